/**
 * The layout of every page: head, navigation and security headers. Pages load nothing from other
 * origins, run nothing inline (Content Security Policy 3), cannot be framed and send no referrer.
 * Error pages use the same layout, with the API problem's status and text and nothing from the
 * request.
 */
import { describeProblem, problemFields } from '../../../http/response/problem.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { formatStrictTransport } from '../../../http/server/tls.ts';
import { CSRF_FIELD } from '../forms/csrf.ts';
import { errorSummary, type Field } from '../forms/fields.ts';
import { Form, type FormState, hiddenField, NO_ERRORS } from '../forms/form.ts';
import { SEARCH_LIMIT_CODE_POINTS } from '../limits.ts';
import type { AnonymousPageRequest, PageRequest, Portal } from '../route.ts';
import { type Content, html, type Html } from './html.ts';
import { readTheme, renderThemeSwitch } from './theme.ts';

/** The part of a request that the layout needs; the rest is missing if the host was rejected. */
type FrameRequest = AnonymousPageRequest
  | Pick<AnonymousPageRequest, 'link' | 'base'> & { readonly headers?: undefined };

interface PageContent {
  /** Title of the window and heading of the page. */
  readonly title: string;
  /** Heading, if it differs from the title. */
  readonly heading?: Content;
  readonly content: Content;
  /** Of the form on the page: its errors precede the content. */
  readonly state?: FormState;
  /** The fields of that form, to which the errors link. */
  readonly fields?: readonly Field[] | undefined;
  /** Default: that of `state`; otherwise 422 with an error, 200 without. */
  readonly status?: number;
  /** What was searched for; the search box shows it. */
  readonly search?: string | undefined;
  /** Names of assets. */
  readonly scripts?: readonly string[];
  readonly cookies?: readonly string[];
}

/** With the content's errors, and the status that follows from them. */
interface CheckedPage extends PageContent {
  readonly status: number;
  /** Whether the title starts with "Error:". */
  readonly hasErrors: boolean;
}

const DRAFT = 'You are signed in again. Nothing was saved yet. Check the form and submit it again.';

const POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
  "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
  "require-trusted-types-for 'script'", "trusted-types 'none'",
].join('; ');

/** @param origin Empty on the page that rejects the host. */
function securityHeaders(origin: string): Record<string, string> {
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

/** A page: with the navigation for a signed-in user, otherwise one column. */
export function renderPage(
  request: PageRequest | FrameRequest, portal: Portal, page: PageContent,
): Reply {
  const { state, fields } = page;
  const errors = state && errorSummary(state, fields);
  const status = page.status ?? state?.status ?? (errors === undefined ? 200 : 422);
  const hasErrors = errors !== undefined || status >= 400;
  const checked = { ...page, content: html`${errors}${page.content}`, status, hasErrors };
  return 'account' in request ? renderSignedInPage(request, portal, checked)
    : renderPublicPage(request, portal, checked);
}

function renderSignedInPage(request: PageRequest, portal: Portal, page: CheckedPage): Reply {
  const { account, csrfToken, link, isDraft } = request;
  return render(request, portal, {
    ...page,
    title: `${page.title} · ${account.sellerName}`,
    locale: account.locale,
    content: html`<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
    <button type="button" class="menu-button small" popovertarget="menu">Menu</button>
    <a class="shop" href="${link('/')}">${account.sellerName}</a>
    ${renderSearchBox(request, page.search)}
    <form method="post" action="${link('/sign-out')}">
      ${hiddenField(CSRF_FIELD, csrfToken)}
      <button class="small">Sign out</button>
    </form>
  </header>
  <nav id="menu" class="menu" aria-label="Portal" popover>
    <ul>${portal.sections.filter(({ role }) => request.may(role))
      .map(({ path, name }) => renderSection(request, path, name))}</ul>
    ${renderThemeSwitch(request)}
  </nav>
<main id="main" tabindex="-1"><h1>${page.heading ?? page.title}</h1>
      ${isDraft && errorSummary({ errors: NO_ERRORS, detail: DRAFT })}${page.content}</main>
</body>`,
  });
}

function renderPublicPage(request: FrameRequest, portal: Portal, page: CheckedPage): Reply {
  return render(request, portal, {
    ...page,
    content: html`<body class="open">
<a class="skip" href="#main">Skip to content</a>
<header class="top"><span class="shop">Seller portal</span></header>
<main id="main" tabindex="-1">
  <div class="narrow"><h1>${page.title}</h1>${page.content}</div></main>
${request.headers && html`<footer>${renderThemeSwitch(request)}</footer>`}
</body>`,
  });
}

/** A 303 redirect, such as after a form (RFC 9110, section 15.4.4). */
export function redirect(location: string, cookies: readonly string[] = []): Reply {
  return { status: 303, headers: { location, 'cache-control': 'no-store' }, cookies };
}

/** @param page Its `content` is the `<body>` element, `locale` that of its times. */
function render(
  { link, base, headers }: FrameRequest, { assets, clock }: Portal,
  { title, content, status, hasErrors, scripts = [], cookies = [], locale }:
  CheckedPage & { readonly content: Html; readonly locale?: string },
): Reply {
  const hasTimes = locale !== undefined && content.text.includes('<time ');
  const theme = readTheme(headers ?? {});
  const asset = (name: string): string => link(`/assets/${assets.pathOf(name)}`);
  const document = html`<!doctype html>
<html lang="en" data-theme="${theme}"${
  hasTimes && html` data-now="${clock()}" data-locale="${locale}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme === 'system' ? 'light dark' : theme}">
<title>${hasErrors && 'Error: '}${title}</title>
<link rel="stylesheet" href="${asset('portal.css')}">
<link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml">
${['portal.js', ...scripts].map((name) => html`
<script type="module" src="${asset(name)}"></script>`)}
</head>
${content}
</html>
`;
  return {
    status, cookies,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      ...securityHeaders(base.origin),
    },
    body: document.text,
  };
}

/** `portal.js` focuses it when somebody presses the key. */
function renderSearchBox({ link }: PageRequest, value = ''): Html {
  return html`<form method="get" action="${link('/search')}" role="search" aria-label="Portal"
      class="find"><label class="hidden" for="search-box">Search portal</label>
      <input id="search-box" name="q" type="search" value="${value}" placeholder="Search"
        maxlength="${2 * SEARCH_LIMIT_CODE_POINTS}" autocomplete="off" aria-keyshortcuts="/"
        title="Search products, keys, webhooks, imports and pages (press /)"></form>`;
}

function renderSection({ path: here, link }: PageRequest, path: string, name: string): Html {
  const isCurrent = here === path || (path !== '/' && here.startsWith(`${path}/`));
  const value = here === path ? 'page' : 'true';
  return html`<li><a href="${link(path)}"${
    isCurrent && html` aria-current="${value}"`}>${name}</a></li>`;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  403: 'Request rejected',
  404: 'Page not found',
  405: 'Page not found',
  409: 'Not possible right now',
  413: 'Too large',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
  507: 'The server is out of disk space',
};

/** An error page, with navigation if the user is signed in. */
export function renderErrorPage(
  error: unknown, portal: Portal, failed: PageRequest | FrameRequest,
): Reply {
  const request = failed.headers ? { ...failed, path: '', query: new Form() } : failed;
  const { status, title, detail, instance, errors } = describeProblem(error, portal.report);
  const reply = renderPage(request, portal, {
    title: TITLES[status] ?? title,
    status,
    content: html`<div role="alert" tabindex="-1" autofocus><p>${detail}</p>
      ${instance !== undefined && html`<p>Error ID: <code>${instance}</code></p>`}
      ${errors && html`<ul>${errors.map((issue) => html`<li>${issue.detail}</li>`)}
      </ul>`}</div>
      <p><a class="button" href="${request.link('/')}">Go to the portal</a></p>`,
  });
  return { ...reply, headers: { ...problemFields(error), ...reply.headers } };
}
