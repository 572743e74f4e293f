/**
 * The composition of the portal: its own pages, and those of each feature in the folder with its
 * name; paths are below `/portal`. Each page names the least role that it needs: reading the
 * catalogue viewer; changing it editor; keys, webhooks, people and activity owner. Each handler
 * documents its statuses. Before it runs, `portal.ts` may redirect to the sign-in (303) or reject
 * the request (403, 404, 405, 429; a form also with 400, 408, 413, 415). `draft` shows a form
 * again if its session ended while the user was filling it in.
 * Written by `.toolchain/composition.ts`; in `make minimal`, with fewer rooms.
 */
import { changePages } from './changes/pages.ts';
import { filterHandlers } from './filters/saved-filters.ts';
import { importPages } from './imports/pages.ts';
import { apiPages } from './openapi/pages.ts';
import { editorPost, type PortalPart } from './page-routes.ts';
import { accessPages, cataloguePages, teamPages } from './portal-pages.ts';
import type { PageRoute } from './route.ts';
import { webhookPages } from './webhooks/pages.ts';

/** In the order of the navigation. */
export const parts: readonly PortalPart[] = [
  cataloguePages,
  importPages,
  changePages,
  accessPages,
  webhookPages,
  apiPages,
  teamPages,
];

const filters = filterHandlers(Object.assign({}, ...parts.map((part) => part.filters)));

export const routes: readonly PageRoute[] = [
  ...parts.flatMap((part) => part.routes),
  { ...editorPost, path: '/filters', handle: filters.save },
  { ...editorPost, path: '/filters/delete', handle: filters.delete },
];
