/**
 * The portal: the pages under `/portal`, for people with browsers. The way of a request is `visit`:
 * the host, the session, where a form comes from, and then the page of `routes.ts`. A refusal is a
 * page, too.
 */
import { tmpdir } from 'node:os';
import { TLSSocket } from 'node:tls';
import type { PageRequest, PortalService, Services } from '../api/route.ts';
import { findCode } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { Router } from '../http/router.ts';
import type { Visitor } from '../store/portal-store.ts';
import { loadAssets } from './assets.ts';
import {
  assertCsrfToken, assertSameOrigin, CSRF_FIELD, makeCsrfToken, makeVisitSecret, readVisitSecret,
} from './csrf.ts';
import { type Form, readForm } from './form.ts';
import { Formats } from './format.ts';
import { Imports } from './import/imports.ts';
import { UPLOADS_KEPT_LIMIT_BYTES } from './limits.ts';
import { redirect } from './page.ts';
import { renderRefusal } from './pages/refusal.ts';
import { Passwords } from './password.ts';
import type { OpenVisit, PageRoute, Portal, Visit } from './route.ts';
import { routes } from './routes.ts';
import { findVisitor, isSignedIn, readSessionToken } from './session.ts';
import { SignInLimits } from './sign-in-limits.ts';
import { findSite, type Site } from './site.ts';
import { VisitRates } from './visit-rates.ts';

export interface PortalOptions {
  /** As of the app. Without it, the portal is for the machine that the server runs on. */
  readonly baseUrl?: string;
  /** Whether anybody may make an account, without an invitation. Default false. */
  readonly openRegistration?: boolean;
  /** Where files that are uploaded are kept. Default: where the system keeps temporary ones. */
  readonly uploadFolder?: string;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
}

const ROOT = '/portal';

/** The pages of a server, for `createApp`. */
export function createPortal(options: PortalOptions = {}): PortalService {
  const { clock = Date.now, baseUrl, uploadFolder = tmpdir() } = options;
  let portal: Portal | undefined;
  const own = {
    assets: loadAssets(), passwords: new Passwords(), limits: new SignInLimits(clock),
    isOpen: options.openRegistration ?? false, clock, formats: new Formats(),
  };
  const router = new Router<PageRoute>(routes);
  const rates = new VisitRates(clock);

  /** Made with the first request: it is for one app. */
  function makePortal(services: Services): Portal {
    const { store, imports: slots, report } = services;
    const productImports = new Imports({
      store, slots, folder: uploadFolder, keptLimitBytes: UPLOADS_KEPT_LIMIT_BYTES, report, clock,
    });
    return { ...services, ...own, productImports };
  }

  async function visit(page: PageRequest, portal: Portal, site: Site): Promise<Reply> {
    const { request, path, passage } = page;
    const below = path.slice(ROOT.length) || '/';
    const { route, parameters } = router.find(request.method ?? '', below);
    passage.route = route.path === '/' ? ROOT : `${ROOT}${route.path}`;
    const token = readSessionToken(request.headers.cookie);
    const visitor = token === undefined
      ? undefined : await findVisitor(portal.store, token, clock(), (error) =>
        portal.report({ id: 'session-seen', error }));
    passage.sellerId = visitor?.account.sellerId;
    // A session that has ended has no part in this any more.
    const known = visitor ? token : readVisitSecret(request.headers.cookie);
    if (!path.startsWith(`${ROOT}/assets/`)) await rates.take(portal.store, page, visitor);
    const fresh = known === undefined ? makeVisitSecret() : undefined;
    const secret = known ?? fresh?.secret ?? '';
    const open = describeVisit(page, portal, { site, parameters, visitor, secret });
    if (route.method === 'POST') assertSameOrigin(request.headers, site.origin);
    const reply = await answerPage(route, open, portal, known);
    return fresh && isPage(reply) ? { ...reply, cookies: [...reply.cookies ?? [], fresh.cookie] }
      : reply;
  }

  return {
    isFor: (path) => path === '/' || path === ROOT || path.startsWith(`${ROOT}/`),
    async answer(page, services) {
      portal ??= makePortal(services);
      if (page.path === '/') {
        page.passage.route = '/';
        return redirect(linkTo(services.prefix, '/'));
      }
      try {
        const { headers: { host }, socket } = page.request;
        return await visit(page, portal, findSite(host, baseUrl, socket instanceof TLSSocket));
      } catch (error) {
        page.passage.code = findCode(error);
        return renderRefusal(error, portal, (path) => linkTo(services.prefix, path));
      }
    },
    close: async () => portal?.productImports.close(),
  };
}

interface Found {
  readonly site: Site;
  readonly parameters: Readonly<Record<string, string>>;
  readonly visitor: Visitor | undefined;
  readonly secret: string;
}

function describeVisit(
  { request, query, address, watchClient }: PageRequest, { prefix }: Services, found: Found,
): OpenVisit {
  const { site, parameters, visitor, secret } = found;
  return {
    request, site, parameters, visitor, address, watchClient,
    headers: request.headers,
    query: new URLSearchParams(query),
    csrfToken: makeCsrfToken(secret),
    link: (path) => linkTo(prefix, path),
  };
}

/** `secret` is what the browser has a cookie of: undefined where this answer gives it one. */
async function answerPage(
  route: PageRoute, visit: OpenVisit, portal: Portal, secret: string | undefined,
): Promise<Reply> {
  if (route.access === 'open') {
    if (route.method === 'GET') return route.handle(visit, portal);
    return route.handle(visit, portal, await readOwnForm(visit, secret));
  }
  const { visitor } = visit;
  const leave = (): Reply => redirect(visit.link(`/sign-in${describeReturn(visit, route)}`));
  if (!visitor) return leave();
  const own = describeOwn(visit, visitor, portal);
  if (route.method === 'GET') return route.handle(own, portal);
  if (route.access === 'upload') return route.handle(own, portal, secret ?? '');
  const form = await readOwnForm(visit, secret);
  // A form may be long in coming: what ends a session ends those that are on their way, too.
  return await own.isSignedIn() ? route.handle(own, portal, form) : leave();
}

/** @throws AppError `browser_refused` for a form that was not shown to this browser */
async function readOwnForm({ request }: OpenVisit, secret: string | undefined): Promise<Form> {
  const form = await readForm(request);
  assertCsrfToken(secret, form.get(CSRF_FIELD));
  return form;
}

function describeOwn(visit: OpenVisit, visitor: Visitor, portal: Portal): Visit {
  const { account, position } = visitor;
  const { store, clock, formats } = portal;
  return {
    ...visit, visitor, account, position,
    format: formats.get(account),
    isSignedIn: () =>
      isSignedIn(store, readSessionToken(visit.headers.cookie) ?? '', clock()),
  };
}

/** The path of a page as a browser knows it. */
function linkTo(prefix: string, path: string): string {
  return `${prefix}${ROOT}${path === '/' ? '' : path}`;
}

/** Where to go on after signing in: the page that was asked for. */
function describeReturn({ request, link }: OpenVisit, { method }: PageRoute): string {
  if (method !== 'GET') return '';
  const target = (request.url ?? '').slice(link('/').length);
  return target === '' || target === '/' ? '' : `?${new URLSearchParams({ to: target })}`;
}

function isPage({ headers }: Reply): boolean {
  return headers['content-type']?.startsWith('text/html') === true;
}
