/**
 * A refusal as a page: what went wrong, and what to do. It takes its status and its words from the
 * problem that a client of the API would be told, and nothing from the request.
 */
import { createProblem, describeProblem } from '../../../http/response/problem.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { html } from './html.ts';
import { type PageContent, renderPublicPage, renderPage } from './page.ts';
import type { AnonymousPageRequest, Portal, PageRequest } from '../route.ts';

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
