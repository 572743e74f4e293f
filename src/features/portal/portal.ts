/**
 * The portal's request pipeline: checks the host, the session, the rate limits, each form's origin
 * and the account's role, then calls the page handler from `routes.ts`. Errors are rendered as
 * pages, too.
 */
import { tmpdir } from 'node:os';
import { TLSSocket } from 'node:tls';
import { makeInstances } from '../../api/instances.ts';
import type { Services } from '../../api/route.ts';
import { Passwords } from '../../domain/access/password.ts';
import type { Pages, PagesRequest } from '../../feature.ts';
import { isLocalClient } from '../../http/request/client-address.ts';
import { findCode } from '../../http/response/problem.ts';
import type { Reply } from '../../http/response/reply.ts';
import { Router } from '../../http/router.ts';
import { loadAssets } from './assets.ts';
import {
  assertCsrfToken, assertSameOrigin, CSRF_FIELD, makeAnonymousSecret, makeCsrfToken,
  readAnonymousSecret,
} from './forms/csrf.ts';
import { Form, readForm } from './forms/form.ts';
import { makeFormatCache } from './html/format.ts';
import { redirect, renderErrorPage } from './html/page.ts';
import { linkPage, resolveOrigin } from './origin.ts';
import { toSignedInRequest } from './page-request.ts';
import { rejectAccount } from './people/roles.ts';
import {
  type AnonymousPageRequest, isPortalPath, type PageRoute, type Portal, type PortalBase, ROOT,
} from './route.ts';
import { parts, routes } from './routes.ts';
import { readDevice } from './sign-in/device.ts';
import { PortalLimits } from './sign-in/rate-limits.ts';
import { findSession, noteSessionSeen, readSessionToken } from './sign-in/session.ts';
import { keepDraft, redirectFromUpload, redirectToSignIn } from './sign-in/sign-in-pages.ts';

/** What a program that serves the portal can choose. */
export interface PortalChoices {
  /** Whether anyone may create an account without an invitation. Default false. */
  readonly openRegistration?: boolean;
  /** Folder for uploads, unless a database keeps them. Default: the system's temporary folder. */
  readonly uploadFolder?: string;
}

export interface PortalOptions extends PortalChoices {
  /** `baseUrl` of the app. Without it, only clients on the server's machine reach the portal. */
  readonly baseUrl?: string | undefined;
  /** Whether another program serves it. Default false. */
  readonly isEmbedded?: boolean;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/** Creates the portal for `createApp`. Tests hash passwords at less cost. */
export function createPortal(
  options: PortalOptions = {}, passwords: Passwords = new Passwords(),
): Pages {
  const { clock = Date.now, baseUrl, uploadFolder = tmpdir() } = options;
  const { openRegistration = false, isEmbedded = false } = options;
  const router = new Router<PageRoute>(routes);
  const shared = {
    assets: loadAssets(), passwords, findFormat: makeFormatCache(clock), router,
    additions: parts, isRegistrationOpen: openRegistration, isEmbedded, clock, uploadFolder,
    sections: routes.flatMap((route) => 'section' in route && route.section !== undefined
      ? [{ path: route.path, name: route.section, role: route.role }] : []),
  };
  let portal: Portal | undefined;

  /** Called on the first request: a portal belongs to one app. */
  function connect(services: Services): Portal {
    const newPortal: Portal = {
      ...services, ...shared, limits: new PortalLimits(services.store, clock),
      pageInstances: makeInstances<Portal>(() => newPortal),
    };
    return newPortal;
  }

  return {
    isFor: isPortalPath,
    findMethods: async (path) => router.findMethods(toPagePath(path)),
    async answer(page, services) {
      portal ??= connect(services);
      const { request, path, prefix, record } = page;
      const link: AnonymousPageRequest['link'] = (target, query) => linkPage(prefix, target, query);
      if (path === '/') {
        record.route = '/';
        return redirect(link('/'));
      }
      try {
        const origin = resolveOrigin({
          host: request.headers.host, isLocal: isLocalClient(request),
          isEncrypted: request.socket instanceof TLSSocket,
        }, baseUrl);
        return await answerRequest(page, portal, { origin, url: origin + prefix }, link);
      } catch (error) {
        record.code = findCode(error);
        return renderErrorPage(error, portal, { link, base: { origin: '', url: '' } });
      }
    },
    close: async () => portal?.pageInstances.close(),
  };
}

function toPagePath(path: string): string {
  return path.slice(ROOT.length) || '/';
}

/** Finds the session, applies the rate limits and calls the page. */
async function answerRequest(
  page: PagesRequest, portal: Portal, base: PortalBase, link: AnonymousPageRequest['link'],
): Promise<Reply> {
  const { request: incoming, response, record, address, disconnectSignal } = page;
  const { headers, method = '' } = incoming;
  const token = readSessionToken(headers.cookie);
  const user = await findSession(portal, token);
  record.sellerId = user?.account.sellerId;
  // An ended session's token is ignored.
  const browserSecret = user ? token : readAnonymousSecret(headers.cookie);
  const fresh = browserSecret === undefined ? makeAnonymousSecret() : undefined;
  const secret = browserSecret ?? fresh?.secret ?? '';
  const path = toPagePath(page.path);
  const request: AnonymousPageRequest = {
    incoming, response, record, headers, base, prefix: page.prefix, path, user, address,
    disconnectSignal, link,
    parameters: {},
    query: new Form(page.query),
    csrfToken: makeCsrfToken(secret),
  };
  const finish = (reply: Reply): Reply => (fresh ? addCookie(reply, fresh.cookie) : reply);
  try {
    if (!path.startsWith('/assets/')) {
      const device = user ? undefined : await readDevice(request, portal);
      portal.limits.takePage(user, { address, device: device?.id });
    }
    const { route, parameters } = portal.router.find(method, path);
    record.route = route.path === '/' ? ROOT : `${ROOT}${route.path}`;
    if (user && !('isPolled' in route)) noteSessionSeen(portal, user);
    if (route.method === 'POST') assertSameOrigin(headers, base.origin);
    return finish(await callPage(route, { ...request, parameters }, portal, browserSecret));
  } catch (error) {
    record.code = findCode(error);
    const own = user ? toSignedInRequest(request, user, portal) : request;
    return finish(await renderErrorPage(error, portal, own));
  }
}

/** Only pages need it: they have forms. */
function addCookie(reply: Reply, cookie: string): Reply {
  const isPage = reply.headers['content-type']?.startsWith('text/html');
  return isPage ? { ...reply, cookies: [...reply.cookies ?? [], cookie] } : reply;
}

/** `secret` comes from the browser's cookie; undefined if this response sets the cookie. */
async function callPage(
  route: PageRoute, request: AnonymousPageRequest, portal: Portal, secret: string | undefined,
): Promise<Reply> {
  if (route.access === 'public') {
    if (route.method === 'GET') return route.handle(request, portal);
    return route.handle(request, portal, await readOwnForm(request, secret));
  }
  const { user, path, query } = request;
  if (!user) {
    if (route.method === 'GET') {
      return redirectToSignIn(request, query.size > 0 ? `${path}?${query}` : path);
    }
    return route.access === 'upload' ? redirectFromUpload(request)
      : keepDraft(request, portal, route.draft);
  }
  if (route.method === 'POST' && route.access === 'signed-in') {
    const form = await readOwnForm(request, secret);
    // The session may have ended, or its role changed, while the form was being received.
    const current = await findSession(portal, readSessionToken(request.headers.cookie));
    if (!current) return redirectToSignIn(request);
    const sender = toSignedInRequest(request, current, portal, route.role);
    return await rejectAccount(sender, portal, route) ?? route.handle(sender, portal, form);
  }
  const own = toSignedInRequest(request, user, portal, route.role);
  const rejection = await rejectAccount(own, portal, route);
  if (rejection) return rejection;
  return route.method === 'GET' ? route.handle(own, portal)
    : route.handle(own, portal, secret ?? '');
}

/** @throws AppError `browser_refused` if the portal did not show this form to this browser */
async function readOwnForm(
  { incoming }: AnonymousPageRequest, secret: string | undefined,
): Promise<Form> {
  const form = await readForm(incoming);
  assertCsrfToken(secret, form.get(CSRF_FIELD));
  return form;
}
