/**
 * The frame of every page: its head, the navigation, and the fields that tell a browser what a page
 * of the portal may do. Nothing is loaded from elsewhere, nothing inline is run (Content Security
 * Policy 3), no other page may frame it, and nobody is told where its links come from.
 */
import { createProblem, describeProblem } from '../../../http/response/problem.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { formatStrictTransport } from '../../../http/server/tls.ts';
import { CSRF_FIELD } from '../forms/csrf.ts';
import { errorSummary } from '../forms/fields.ts';
import { NO_ERRORS } from '../forms/form.ts';
import type { AnonymousPageRequest, PageRequest, Portal } from '../route.ts';
import { type Content, html, type Html } from './html.ts';

interface PageContent {
  /** In the title of the window and as the heading of the page. */
  readonly title: string;
  /** What the heading says instead. */
  readonly heading?: Content;
  readonly content: Content;
  readonly status?: number;
  /** Names of assets. */
  readonly scripts?: readonly string[];
  readonly cookies?: readonly string[];
}

const DRAFT = 'You are signed in again. Nothing was saved yet: check the form, and send it again.';

const POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
  "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
  "require-trusted-types-for 'script'", "trusted-types 'none'",
].join('; ');

/** Of every page; the origin is empty where the page is a refusal of the host. */
function describeSafety(origin: string): Record<string, string> {
  const [scheme, host = ''] = origin.split('://');
  return {
    'content-security-policy': POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), usb=()',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    ...(scheme === 'https' && formatStrictTransport(host)),
  };
}

/** A page of somebody who is signed in, with the navigation. */
export function renderPage(request: PageRequest, portal: Portal, page: PageContent): Reply {
  const { account, csrfToken, link } = request;
  const header = html`<header class="top">
    <button type="button" class="menu-button small" popovertarget="menu">Menu</button>
    <a class="shop" href="${link('/')}">${account.sellerName}</a>
    <form method="post" action="${link('/sign-out')}">
      <input type="hidden" name="${CSRF_FIELD}" value="${csrfToken}">
      <button class="small">Sign out</button>
    </form>
  </header>
  <nav id="menu" class="menu" aria-label="Portal" popover>
    <ul>${portal.sections.map(({ path, name }) => renderSection(request, path, name))}</ul>
  </nav>`;
  return render(request, portal, {
    ...page,
    title: `${page.title} · ${account.sellerName}`,
    scripts: ['portal.js', ...page.scripts ?? []],
  }, {
    header, isOpen: false,
    main: html`<h1>${page.heading ?? page.title}</h1>
      ${request.isDraft && errorSummary(NO_ERRORS, DRAFT)}${page.content}`,
  });
}

/** A page for anybody: one column, and nothing that leads elsewhere. */
export function renderPublicPage(
  request: Pick<AnonymousPageRequest, 'link' | 'base'>, portal: Portal, page: PageContent,
): Reply {
  const header = html`<header class="top"><span class="shop">Seller portal</span></header>`;
  const main = html`<div class="narrow"><h1>${page.title}</h1>${page.content}</div>`;
  return render(request, portal, page, { header, main, isOpen: true });
}

/** To another page, after something was done (RFC 9110, section 15.4.4). */
export function redirect(location: string, cookies: readonly string[] = []): Reply {
  return { status: 303, headers: { location, 'cache-control': 'no-store' }, cookies };
}

interface Frame {
  readonly header: Html;
  readonly main: Html;
  /** Whether it is for anybody, and so without the navigation. */
  readonly isOpen: boolean;
}

function render(
  request: Pick<AnonymousPageRequest, 'link' | 'base'>, { assets }: Portal, page: PageContent,
  { header, main, isOpen }: Frame,
): Reply {
  const asset = (name: string): string => request.link(`/assets/${assets.pathOf(name)}`);
  const status = page.status ?? 200;
  const isError = status >= 400;
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${isError && 'Error: '}${page.title}</title>
<link rel="stylesheet" href="${asset('portal.css')}">
<link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml">
${page.scripts?.map((name) => html`<script type="module" src="${asset(name)}"></script>`)}
</head>
<body${isOpen && html` class="open"`}>
<a class="skip" href="#main">Skip to content</a>
${header}
<main id="main" tabindex="-1">${main}</main>
</body>
</html>
`;
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      ...describeSafety(request.base.origin),
    },
    body: document.text,
    ...(page.cookies && { cookies: page.cookies }),
  };
}

function renderSection({ path: here, link }: PageRequest, path: string, name: string): Html {
  const isIn = here === path || (path !== '/' && here.startsWith(`${path}/`));
  const mark = here === path ? 'page' : 'true';
  return html`<li><a href="${link(path)}"${isIn && html` aria-current="${mark}"`}>${name}</a></li>`;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'This could not be understood',
  403: 'This was refused',
  404: 'There is no such page',
  405: 'There is no such page',
  409: 'This cannot be done now',
  413: 'This is too large',
  429: 'Too many requests',
  503: 'The server cannot do this now',
  507: 'The disk of the server is full',
};

/** Has the navigation if `request` is that of a signed-in user. */
export function renderErrorPage(
  error: unknown, portal: Portal,
  request: PageRequest | Pick<AnonymousPageRequest, 'link' | 'base'>,
): Reply {
  // One of the two is told of what is no fault of the client: it is one event.
  const problem = describeProblem(error, portal.report);
  const { status, headers } = createProblem(error, () => {});
  const page: PageContent = {
    title: TITLES[status] ?? problem.title,
    status,
    content: html`<div role="alert" tabindex="-1" autofocus><p>${problem.detail}</p>
      ${problem.instance !== undefined && html`<p>Its id is <code>${problem.instance}</code>.</p>`}
      ${problem.errors && html`<ul>${problem.errors.map(({ detail }) => html`<li>${detail}</li>`)}
      </ul>`}</div>
      <p><a class="button" href="${request.link('/')}">To the portal</a></p>`,
  };
  const reply = 'account' in request
    ? renderPage(request, portal, page) : renderPublicPage(request, portal, page);
  const { allow, connection, 'retry-after': retryAfter } = headers;
  return {
    ...reply,
    headers: {
      ...reply.headers,
      ...(allow !== undefined && { allow }),
      ...(connection !== undefined && { connection }),
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    },
  };
}
