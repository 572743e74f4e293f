/**
 * The portal: the pages under `/portal`, for people with browsers. `answerVisit` checks the host,
 * the session and where a form comes from, and then calls the page of `routes.ts`. An error is
 * answered with a page, too.
 */
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { TLSSocket } from 'node:tls';
import { Instances } from '../../api/instances.ts';
import type { Services } from '../../api/route.ts';
import { Passwords } from '../../domain/access/password.ts';
import { PORTAL_KEY_ID } from '../../domain/id.ts';
import type { Pages, PagesRequest } from '../../feature.ts';
import { isLocalClient } from '../../http/request/client-address.ts';
import { findCode } from '../../http/response/problem.ts';
import type { Reply } from '../../http/response/reply.ts';
import { Router } from '../../http/router.ts';
import type { SignedInSession } from '../../store/account-store.ts';
import { loadAssets } from './assets.ts';
import {
  assertCsrfToken, assertSameOrigin, CSRF_FIELD, makeAnonymousSecret, makeCsrfToken,
  readAnonymousSecret,
} from './forms/csrf.ts';
import { formOf } from './forms/draft.ts';
import { type Form, readForm } from './forms/form.ts';
import { Formats } from './html/format.ts';
import { redirect, renderErrorPage } from './html/page.ts';
import { assertPortalLimits } from './limits.ts';
import { type PortalOrigin, resolveOrigin } from './origin.ts';
import type { AnonymousPageRequest, Draft, PageRequest, PageRoute, Portal } from './route.ts';
import { routes } from './routes.ts';
import { PageRateLimits, SignInLimits } from './sign-in/rate-limits.ts';
import { assertSignedIn, findSession, isSignedIn, readSessionToken } from './sign-in/session.ts';
import { keepDraft, redirectFromUpload, redirectToSignIn } from './sign-in/sign-in-pages.ts';

export interface PortalOptions {
  /**
   * `baseUrl` of the app. Without it, only clients on the server's own machine reach the portal.
   */
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
export function createPortal(options: PortalOptions = {}): Pages {
  assertPortalLimits();
  const { clock = Date.now, baseUrl, uploadFolder = tmpdir() } = options;
  let portal: Portal | undefined;
  const own = {
    assets: loadAssets(), passwords: new Passwords(), limits: new SignInLimits(clock),
    isOpen: options.openRegistration ?? false, clock, uploadFolder, formats: new Formats(),
    sections: listSections(),
  };
  const router = new Router<PageRoute>(routes);
  const rates = new PageRateLimits(clock);

  /** Made with the first request: it is for one app. */
  function makePortal(services: Services): Portal {
    const made: Portal = {
      ...services, ...own,
      pageInstances: new Instances<Portal>(() => made),
      resume: (request, token, draft) => showDraft(request, made, { router, token, draft }),
    };
    return made;
  }

  return {
    isFor: (path) => path === '/' || path === ROOT || path.startsWith(`${ROOT}/`),
    findMethods: (path) => router.findMethods(readPagePath(path)),
    async answer(page, services) {
      portal ??= makePortal(services);
      if (page.path === '/') {
        page.record.route = '/';
        return redirect(linkTo(services.prefix, '/'));
      }
      try {
        const base = resolveOrigin(describeClient(page.request), baseUrl);
        return await answerVisit(page, portal, base, { router, rates });
      } catch (error) {
        page.record.code = findCode(error);
        const link = (path: string): string => linkTo(services.prefix, path);
        return renderErrorPage(error, portal, { link, base: NO_SITE });
      }
    },
    close: async () => portal?.pageInstances.close(),
  };
}

function describeClient(request: IncomingMessage): Parameters<typeof resolveOrigin>[0] {
  const { headers: { host }, socket } = request;
  return { host, isEncrypted: socket instanceof TLSSocket, isLocal: isLocalClient(request) };
}

function listSections(): Portal['sections'] {
  return routes.flatMap((route) => 'section' in route && route.section !== undefined
    ? [{ path: route.path, name: route.section }] : []);
}

/** As in the routes; the root redirects to the first page, which has the same methods. */
function readPagePath(path: string): string {
  return path.slice(ROOT.length) || '/';
}

/** For the page that rejects the host itself. */
const NO_SITE: PortalOrigin = { origin: '', url: '' };

interface Serving {
  readonly router: Router<PageRoute>;
  readonly rates: PageRateLimits;
}

/**
 * Finds the session, applies rate limits and calls the page. An error is a page in the same frame.
 */
async function answerVisit(
  page: PagesRequest, portal: Portal, base: PortalOrigin, { router, rates }: Serving,
): Promise<Reply> {
  const { request, path, record } = page;
  const token = readSessionToken(request.headers.cookie);
  const user = token === undefined
    ? undefined : await findSession(portal.store, token, portal.clock(), (error) =>
      portal.report({ id: 'session-seen', error }));
  record.sellerId = user?.account.sellerId;
  // The token of an ended session is ignored.
  const known = user ? token : readAnonymousSecret(request.headers.cookie);
  const fresh = known === undefined ? makeAnonymousSecret() : undefined;
  const below = readPagePath(path);
  const open = toPageRequest(page, portal, {
    base, path: below, user, secret: known ?? fresh?.secret ?? '',
  });
  try {
    if (!path.startsWith(`${ROOT}/assets/`)) await rates.take(portal.store, page, user);
    const { route, parameters } = router.find(request.method ?? '', below);
    record.route = route.path === '/' ? ROOT : `${ROOT}${route.path}`;
    if (route.method === 'POST') assertSameOrigin(request.headers, base.origin);
    const asked = { ...open, parameters };
    const reply = await answerPage(route, asked, portal, { secret: known, router });
    return fresh && isPage(reply) ? { ...reply, cookies: [...reply.cookies ?? [], fresh.cookie] }
      : reply;
  } catch (error) {
    record.code = findCode(error);
    return renderErrorPage(error, portal, user ? describeOwn(open, user, portal) : open);
  }
}

interface Found extends Pick<AnonymousPageRequest, 'base' | 'path' | 'user'> {
  readonly secret: string;
}

function toPageRequest(
  { request, response, record, query, address, disconnectSignal }: PagesRequest,
  { prefix }: Services,
  found: Found,
): AnonymousPageRequest {
  const { base, path, user, secret } = found;
  return {
    incoming: request, response, record, base, path, user, address, disconnectSignal,
    parameters: {},
    headers: request.headers,
    query: new URLSearchParams(query),
    csrfToken: makeCsrfToken(secret),
    link: (target) => linkTo(prefix, target),
  };
}

interface Answering {
  /** The secret in the browser's cookie; undefined if this answer sets it. */
  readonly secret: string | undefined;
  readonly router: Router<PageRoute>;
}

async function answerPage(
  route: PageRoute, request: AnonymousPageRequest, portal: Portal, { secret, router }: Answering,
): Promise<Reply> {
  if (route.access === 'open') {
    if (route.method === 'GET') return route.handle(request, portal);
    return route.handle(request, portal, await readOwnForm(request, secret));
  }
  const { user, incoming, link } = request;
  if (!user) {
    if (route.method === 'GET') {
      return redirectToSignIn(request, (incoming.url ?? '').slice(link('/').length));
    }
    return route.access === 'upload' ? redirectFromUpload(request)
      : keepDraft(request, portal, router, route.draft);
  }
  const own = describeOwn(request, user, portal);
  if (route.method === 'GET') return route.handle(own, portal);
  if (route.access === 'upload') return route.handle(own, portal, secret ?? '');
  const form = await readOwnForm(request, secret);
  // A form may be long in coming: what ends a session ends those that are on their way, too.
  return await own.isSignedIn() ? route.handle(own, portal, form) : redirectToSignIn(request);
}

interface Resumed {
  readonly router: Router<PageRoute>;
  readonly token: string;
  readonly draft: Draft;
}

async function showDraft(
  request: AnonymousPageRequest, portal: Portal, { router, token, draft }: Resumed,
): Promise<Reply> {
  const { route, parameters } = router.find('POST', draft.path);
  const user = await findSession(portal.store, token, portal.clock(), () => {});
  const draftRoute = route.access === 'own' && route.method === 'POST' ? route.draft : undefined;
  if (!user || !draftRoute) return redirect(request.link('/'));
  const own = describeOwn({
    ...request, path: draft.path, parameters, query: new URLSearchParams(),
    csrfToken: makeCsrfToken(token), user,
  }, user, portal);
  try {
    return await draftRoute.show({ ...own, isDraft: true }, portal, formOf(draft));
  } catch (error) {
    return renderErrorPage(error, portal, own); // what the form was for may be gone
  }
}

/** @throws AppError `browser_refused` for a form that was not shown to this browser */
async function readOwnForm(
  { incoming }: AnonymousPageRequest, secret: string | undefined,
): Promise<Form> {
  const form = await readForm(incoming);
  assertCsrfToken(secret, form.get(CSRF_FIELD));
  return form;
}

function describeOwn(
  request: AnonymousPageRequest, user: SignedInSession, { store, streams, clock, formats }: Portal,
): PageRequest {
  const { account, position } = user;
  const own = {
    ...request, user, account, position,
    isDraft: false,
    format: formats.get(account),
    isSignedIn: () =>
      isSignedIn(store, readSessionToken(request.headers.cookie) ?? '', clock()),
  };
  const openStream = streams.openerFor({
    key: { sellerId: account.sellerId, keyId: PORTAL_KEY_ID },
    response: request.response,
    record: request.record,
    reauthorize: () => assertSignedIn(own),
  });
  return { ...own, openStream };
}

/** The path of a page as a browser knows it. */
function linkTo(prefix: string, path: string): string {
  return `${prefix}${ROOT}${path === '/' ? '' : path}`;
}

function isPage({ headers }: Reply): boolean {
  return headers['content-type']?.startsWith('text/html') === true;
}
