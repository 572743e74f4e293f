/**
 * The onboarding checklist of a shop: products, a key, the first API call, a webhook. Steps are
 * done when the shop's data says so; nothing is remembered but whether the browser hides the list.
 * The overview shows it, and a page of its own, which `tour.js` keeps current.
 */
import type { ApiKey } from '../../../domain/access/api-key.ts';
import { formatWebhookId } from '../../../domain/id.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import type { Webhook } from '../../../domain/webhooks/webhook.ts';
import { replyJson } from '../../../http/response/reply.ts';
import { postForm } from '../forms/fields.ts';
import { hiddenField } from '../forms/form.ts';
import { findRoute, formatCurl } from '../html/curl.ts';
import { card, copyable } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { PORTAL_PAGE_ROWS, PREFERENCE_LIFE_MS, TOUR_LIFE_MS } from '../limits.ts';
import { hasPage, type PageRequest, type Portal, type Show, type Submit } from '../route.ts';
import { formatCookie, readCookie } from '../sign-in/cookie.ts';

/** Of the browser that hides the list. */
const TOUR_COOKIE = 'tour';
const HIDDEN = 'hidden';

type StepId = 'products' | 'key' | 'request' | 'webhook';

interface Tour {
  /** Without the webhook if the server has webhooks disabled. */
  readonly steps: readonly { readonly id: StepId; readonly isDone: boolean }[];
  /** The key of the latest API call, if there was one. */
  readonly caller: ApiKey | undefined;
  /** The oldest one, if there is one. */
  readonly webhook: Webhook | undefined;
}

/**
 * The steps that the account's role allows. A step stays done: keys that have ended count, and a
 * webhook that delivered before it failed.
 */
async function readTour(request: PageRequest, portal: Portal): Promise<Tour> {
  const { account: { sellerId }, position, may } = request;
  const { store } = portal;
  const products = { id: 'products', isDone: position > 0 } as const;
  if (!may('owner')) {
    return { steps: may('editor') ? [products] : [], caller: undefined, webhook: undefined };
  }
  const keys = await store.listKeys(sellerId, { after: undefined, limit: PORTAL_PAGE_ROWS }, true);
  const [caller] = keys.filter(({ lastUsedAt }) => lastUsedAt !== undefined)
    .sort((one, other) => (other.lastUsedAt ?? 0) - (one.lastUsedAt ?? 0));
  const steps: Tour['steps'] = [
    products,
    { id: 'key', isDone: keys.length > 0 },
    { id: 'request', isDone: caller !== undefined },
  ];
  if (!hasWebhooks(portal)) return { steps, caller, webhook: undefined };
  const webhooks = await store.listWebhooks(
    sellerId, { after: undefined, limit: WEBHOOKS_PER_SELLER_LIMIT },
  );
  const attempts = await Promise.all(webhooks.map((webhook) =>
    store.listWebhookAttempts(webhook, { before: undefined, limit: PORTAL_PAGE_ROWS })));
  const isDone = attempts.flat().some(({ outcome }) => outcome === 'delivered');
  return { steps: [...steps, { id: 'webhook', isDone }], caller, webhook: webhooks[0] };
}

/** What is known of the latest API call; undefined without one. */
function describeCall({ format }: PageRequest, { caller }: Tour): string | undefined {
  return caller?.lastUsedAt === undefined ? undefined
    : `Latest call: ${format.time(caller.lastUsedAt)}, with the key ${caller.name}, from ${
      caller.lastUsedAddress ?? 'an unknown address'}.`;
}

/** False if the server's operator disabled them. */
function hasWebhooks(portal: Portal): boolean {
  const route = findRoute(portal, 'createWebhook');
  return route !== undefined && route.isEnabled?.(portal) !== false;
}

/** The list for the overview; nothing once it is done, or hidden, or the shop is no longer new. */
export async function renderTourCard(request: PageRequest, portal: Portal): Promise<Content> {
  if (isTourHidden(request)) {
    return request.position === 0 && html`<div class="empty"><p>Your catalogue is empty.</p>
      <p><a class="button primary" href="${request.link('/start')}">Get started</a></p></div>`;
  }
  const seller = await portal.store.findSeller(request.account.sellerId);
  const isNew = seller !== undefined && portal.clock() - seller.createdAt < TOUR_LIFE_MS;
  if (!isNew && request.position > 0) return undefined;
  const tour = await readTour(request, portal);
  if (tour.steps.every(({ isDone }) => isDone)) return undefined;
  return card('start', 'Get started', html`${renderSteps(request, portal, tour)}
    ${postForm(request, request.link('/start'), html`${hiddenField('tour', HIDDEN)}
      <button class="small">Hide this list</button>`, '')}`);
}

function isTourHidden({ headers }: PageRequest): boolean {
  return readCookie(headers.cookie, TOUR_COOKIE) === HIDDEN;
}

/** The first step that is not done has the primary button. */
function renderSteps(request: PageRequest, portal: Portal, tour: Tour): Html {
  const next = tour.steps.find(({ isDone }) => !isDone)?.id;
  return html`<ol class="steps" data-tour="${request.link('/start/progress')}">
    ${tour.steps.map(({ id, isDone }) => {
    const [title, content] = STEPS[id](request, portal, tour, id === next ? 'primary' : '');
    return html`<li data-step="${id}"${isDone && html` class="done"`}><h3>${title}
      <span class="tag good"${!isDone && html` hidden`}>Done</span></h3>
      <div>${content}</div></li>`;
  })}</ol><p class="hidden" role="status" data-tour-status></p>`;
}

type RenderStep = (
  request: PageRequest, portal: Portal, tour: Tour, primary: string,
) => readonly [title: string, content: Html];

const STEPS: Readonly<Record<StepId, RenderStep>> = {
  products: (request, portal, _tour, primary) => {
    const canImport = hasPage(portal, '/import');
    return ['Add your products', html`
      ${canImport && html`<p>Import a spreadsheet or a shop's export: you see a preview first. Or
        try the portal with a sample catalogue, which you can revert.</p>`}
      <div class="actions">
        ${canImport && html`
          <a class="button ${primary}" href="${request.link('/import')}">Import a file</a>
          ${postForm(request, request.link('/import/sample'), html`
            <button>Use the sample catalogue</button>`, '')}`}
        <a class="button ${canImport ? '' : primary}" href="${request.link('/products/new')}">Create
          a product</a></div>`];
  },
  key: ({ link }, _portal, _tour, primary) => ['Create an API key', html`
    <p>Your programs call the API with a key. It is shown once, when it is created.</p>
    <p class="actions"><a class="button ${primary}" href="${link('/keys/new')}">Create
      key</a></p>`],
  request: (request, portal, tour) => {
    const { base } = request;
    const route = findRoute(portal, 'listProducts');
    const call = describeCall(request, tour);
    return ['Make your first API call', html`
      <p>Run this in a terminal, with your key instead of YOUR_KEY. This step is done when the
        request arrives.</p>
      ${route && copyable('first-call', formatCurl(route, base.url, 'YOUR_KEY'))}
      <p data-tour-note=""${!call && html` hidden`}><bdi>${call}</bdi></p>`];
  },
  webhook: ({ link }, _portal, { webhook }, primary) => ['Receive changes with a webhook', webhook
    ? html`<p>Send a test message, and see your server's response.</p>
      <p class="actions"><a class="button ${primary}"
        href="${link(`/webhooks/${formatWebhookId(webhook)}`)}">Test your webhook</a></p>`
    : html`<p>The server sends each change to a URL of yours. Send it a test message to see it
        arrive.</p>
      <p class="actions"><a class="button ${primary}" href="${link('/webhooks/new')}">New
        webhook</a></p>`],
};

/** GET /portal/start: 200. Also shows a list that is done or hidden. */
export const showStart: Show = async (request, portal) => {
  const tour = await readTour(request, portal);
  const doneCount = tour.steps.filter(({ isDone }) => isDone).length;
  return renderPage(request, portal, {
    title: 'Getting started',
    content: html`<p>${doneCount} of ${tour.steps.length} steps are done.
      ${hasPage(portal, '/api') && html`The <a href="${request.link('/api')}">API reference</a>
        describes everything that programs can do.`}</p>
      ${card('steps', 'Steps', renderSteps(request, portal, tour))}
      ${isTourHidden(request) && postForm(request, request.link('/start'), html`
        ${hiddenField('tour', 'shown')}<button>Show this list on the overview</button>`, '')}`,
    scripts: ['tour.js'],
  });
};

/** POST /portal/start: 303. Hides the list of the overview in this browser, or shows it. */
export const switchTour: Submit = async ({ link }, _portal, form) => {
  const isHidden = form.get('tour') === HIDDEN;
  return redirect(link('/'), [formatCookie(
    TOUR_COOKIE, isHidden ? HIDDEN : '', isHidden ? PREFERENCE_LIFE_MS : 0,
  )]);
};

/** GET /portal/start/progress: 200. The steps that are done, and what is known, for `tour.js`. */
export const showProgress: Show = async (request, portal) => {
  const tour = await readTour(request, portal);
  const done = tour.steps.filter(({ isDone }) => isDone).map(({ id }) => id);
  return replyJson(JSON.stringify({ done, notes: { request: describeCall(request, tour) } }));
};
