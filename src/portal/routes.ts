/** All pages of the portal on one screen; paths are below `/portal`. */
import { readAsset } from './pages/asset.ts';
import { join, showJoin } from './pages/join.ts';
import { showOverview } from './pages/overview.ts';
import { showSignIn, signIn, signOut } from './pages/sign-in.ts';
import type { PageRoute } from './route.ts';

const openGet = { method: 'GET', access: 'open' } as const;
const openPost = { method: 'POST', access: 'open' } as const;
const get = { method: 'GET', access: 'own' } as const;
const post = { method: 'POST', access: 'own' } as const;

export const routes: readonly PageRoute[] = [
  { ...openGet, path: '/assets/{digest}/{name}', handle: readAsset },

  { ...openGet, path: '/join', handle: showJoin },
  { ...openPost, path: '/join', handle: join },
  { ...openGet, path: '/sign-in', handle: showSignIn },
  { ...openPost, path: '/sign-in', handle: signIn },
  { ...post, path: '/sign-out', handle: signOut },

  { ...get, path: '/', handle: showOverview },
];
