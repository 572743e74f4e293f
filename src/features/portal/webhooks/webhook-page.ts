/**
 * A webhook's page: its state, its delivery attempts, and its actions: test, retry, resend a
 * message or changes, disable, enable, rotate the secret, delete.
 */
import { setTimeout } from 'node:timers/promises';
import { splitPage } from '../../../api/list.ts';
import { formatWebhookId, type WebhookReference } from '../../../domain/id.ts';
import type { WebhookAttempt } from '../../../domain/webhooks/webhook-attempt.ts';
import { needsAttention } from '../../../domain/webhooks/webhook-changes.ts';
import { parseReplay, parseWebhookPatch } from '../../../domain/webhooks/webhook-input.ts';
import { findNextAttempt, type Webhook } from '../../../domain/webhooks/webhook.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { getAttempt } from '../../webhooks/deliveries.ts';
import { getWebhooks } from '../../webhooks/routes.ts';
import { type Field, postForm, renderFields } from '../forms/fields.ts';
import { defineForm, defineFormPage } from '../forms/form-page.ts';
import { type FormState, hiddenField, nonceField, toWriteContext } from '../forms/form.ts';
import { findWholeNumber, overlapField, readOverlap } from '../forms/typed-values.ts';
import {
  alert, card, details, facts, flashNotice, madeBy, numeric, pager, type Row, table, toast,
} from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { PORTAL_PAGE_ROWS, WEBHOOK_RETRY_POLL_MS, WEBHOOK_RETRY_WAIT_MS } from '../limits.ts';
import type { PageRequest, Portal, Submit } from '../route.ts';
import { DELIVERED, describeMessage, renderOutcome } from './attempt-page.ts';
import { renderSecretOnce } from './webhook-form.ts';
import {
  DELIVERY_LABELS, describeLag, describeTrouble, describeTypes, findObstacle, getWebhook, nameOf,
  type Obstacle, pathOf, referenceOf, renderState,
} from './webhooks.ts';

/** The position to resend from. */
const REPLAY_FIELD: Field = {
  name: 'position', label: 'Send changes after position', inputMode: 'numeric',
};

const FLASH = new Map([
  ['changed', 'Webhook updated.'],
  ['disabled', 'Webhook disabled. Nothing is sent until you enable it.'],
  ['enabled', 'Webhook enabled. Delivery resumes where it stopped.'],
  ['replayed', 'The changes are being sent again.'],
]);

/** GET /portal/webhooks/{webhook_id}: 200, 404. POST to /replay: 303, 400, 404, 422 */
export const replayForm = defineForm<number, Webhook>({
  fields: [REPLAY_FIELD],
  find: getWebhook,
  render: renderWebhook,
  read(form, _, request) {
    const typed = findWholeNumber(form.getTrimmed('position'));
    return parseReplay({ position: typed ?? NaN }, request.position);
  },
  async save(position, request, portal, { form }) {
    const { subject, link } = request;
    await portal.store.replayWebhook(toWriteContext(request, form), subject.id, position);
    return redirect(link(`${pathOf(subject)}?done=replayed`));
  },
});

/** @param state State of the form that resends changes. */
async function renderWebhook(
  request: PageRequest & { readonly subject: Webhook }, portal: Portal, state: FormState,
): Promise<Reply> {
  const { subject: webhook } = request;
  const before = findWholeNumber(request.query.get('before') ?? '');
  const attempts = await portal.store.listWebhookAttempts(webhook, {
    before, limit: PORTAL_PAGE_ROWS + 1,
  });
  const { page, last } = splitPage(attempts, PORTAL_PAGE_ROWS);
  const path = request.link(pathOf(webhook));
  return renderPage(request, portal, {
    title: `Webhook: ${nameOf(webhook)}`,
    state, fields: [REPLAY_FIELD],
    content: html`${renderNotice(request, webhook, page)}
      ${needsAttention(webhook) && renderTrouble(request, webhook, {
    last: page.find(({ kind }) => kind === 'changes'),
    obstacle: await findObstacle(webhook, portal),
  })}
      <div class="card">${renderFacts(request, webhook)}
        <p class="actions"><a class="button" href="${path}/edit">Edit</a>
          <a class="button danger" href="${path}/delete">Delete</a></p></div>
      ${renderCards(request, webhook, state)}
      <h2>Delivery attempts</h2>
      ${table({
    caption: 'Delivery attempts, newest first',
    columns: ['When', 'Event', 'Result', numeric('HTTP status'), numeric('Duration'), 'Message ID'],
    rows: page.map((attempt) => renderAttempt(request, webhook, attempt)),
    empty: html`<p>Nothing sent yet. Send a test message to check the connection.</p>`,
  })}
      ${pager('Pages of attempts', before === undefined ? undefined : path,
    last && `${path}?before=${last.n}`)}
      <p><a href="${request.link('/webhooks')}">All webhooks</a></p>`,
  });
}

function renderNotice(
  request: PageRequest, { status: state }: Webhook, attempts: readonly WebhookAttempt[],
): Content {
  const { format, link, path, query } = request;
  if (query.get('done') !== 'sent') return flashNotice(request, FLASH);
  const number = findWholeNumber(query.get('attempt') ?? '') ?? 0;
  const attempt = attempts.find(({ n }) => n === number);
  if (!attempt) {
    if (number <= (attempts[0]?.n ?? 0)) return undefined; // an earlier one, on another page
    return state === 'disabled'
      ? alert('bad', html`<p>Nothing was sent, and the webhook is disabled.</p>`)
      : toast(html`<p>The message is being sent. Reload the page to see the result.</p>`);
  }
  const { n, kind, status, durationMs, outcome } = attempt;
  const message = kind === 'test' ? 'The test message' : 'The message';
  if (outcome === DELIVERED) {
    const response = `HTTP ${status ?? ''} after ${format.number(durationMs)} ms`;
    return toast(html`<p>${message} was delivered: ${response}.</p>`);
  }
  return alert('bad', html`<p>${message} was not delivered: ${outcome}.
    <a href="${link(`${path}/attempts/${n}`)}">View the response</a></p>`);
}

/** What to do about a webhook that fails, or was disabled because it did. */
function renderTrouble(
  request: PageRequest, webhook: Webhook,
  { last, obstacle }: {
    readonly last: WebhookAttempt | undefined; readonly obstacle: Obstacle | undefined;
  },
): Html {
  const path = request.link(pathOf(webhook));
  const next = obstacle ? WAYS_OUT[obstacle]
    : postForm(request, `${path}/retry`, html`<button class="primary">Retry now</button>`);
  return card('trouble', `This webhook ${describeTrouble(webhook)}`, html`
    <p>${webhook.disabledReason ?? html`${last && html`Last attempt: ${last.outcome}.`}
      Changes wait, and are sent in order once an attempt succeeds.`}</p>
    <div class="actions">
      ${next}
      ${last && html`<a class="button" href="${path}/attempts/${last.n}">View last attempt</a>`}
    </div>`);
}

/** What is to be done before an attempt is possible. */
const WAYS_OUT: Readonly<Record<Obstacle, Html>> = {
  secret: html`<a class="button" href="#rotate">Create new secret</a>`,
  history: html`<a class="button" href="#replay">Choose changes to send</a>`,
};

function renderFacts({ format, position }: PageRequest, webhook: Webhook): Html {
  const { url, description, disabledReason, failingSince, updatedAt } = webhook;
  const nextAttemptAt = findNextAttempt(webhook);
  return html`${facts([
    ['URL', url],
    description !== '' && ['Description', description],
    ['ID', html`<code>${formatWebhookId(webhook)}</code>`],
    ['Status', renderState(webhook)],
    disabledReason !== undefined && ['Reason', disabledReason],
    ['Events', describeTypes(webhook)],
    ['Messages', DELIVERY_LABELS[webhook.delivery]],
    ['Delivery', describeLag(format, position - webhook.position)],
    failingSince !== undefined && ['Failing since', format.timeElement(failingSince)],
    nextAttemptAt !== undefined && ['Next attempt', format.timeElement(nextAttemptAt)],
    ['Created', madeBy(format.timeElement(webhook.createdAt), webhook.createdBy)],
    ['Updated', format.timeElement(updatedAt)],
  ])}${details(facts([
    ['Delivered up to position', html`${format.number(webhook.position)} of ${
      format.number(position)}`],
  ]))}`;
}

function renderAttempt(request: PageRequest, webhook: Webhook, attempt: WebhookAttempt): Row {
  const { format, link } = request;
  const { at, status, durationMs, outcome, messageId, n } = attempt;
  return [
    html`<a href="${link(`${pathOf(webhook)}/attempts/${n}`)}">${format.timeElement(at)}</a>`,
    describeMessage(attempt),
    renderOutcome(outcome),
    status ?? 'none',
    `${format.number(durationMs)} ms`,
    html`<code>${messageId}</code>`,
  ];
}

function renderCards(request: PageRequest, webhook: Webhook, state: FormState): Html {
  const { format, link, position } = request;
  const hint = `Enter 0 to resend the whole history. Current position: ${format.number(position)}.`;
  const action = (name: string): string => link(`${pathOf(webhook)}/${name}`);
  return html`<div class="columns">
    ${card('test', 'Test', html`
      <p>Sends a signed test message now, even if the webhook is disabled.</p>
      ${postForm(request, action('test'), html`<button${!needsAttention(webhook)
        && html` class="primary"`}>Send test message</button>`)}`)}
    ${renderSwitch(request, webhook, action('status'))}
    ${card('replay', 'Resend changes', html`
      <p>Sends all changes again from a point in the history, or the whole history.</p>
      ${details(postForm(request, action('replay'), html`${nonceField()}
        ${renderFields([{ ...REPLAY_FIELD, hint }], state)}
        <button>Resend</button>`), state.errors.size > 0)}`)}
    ${card('rotate', 'Rotate secret', postForm(request, action('rotate'), html`${nonceField()}
        ${renderFields([overlapField('Keep the old secret valid for')])}
        <button>Create new secret</button>`))}
  </div>`;
}

function renderSwitch(request: PageRequest, { status }: Webhook, action: string): Html {
  const isActive = status === 'active';
  const label = isActive ? 'Disable' : 'Enable';
  return card('switch', label, html`
    <p>${isActive ? 'Nothing is sent until you enable it. Then delivery resumes where it stopped.'
    : 'Delivery resumes where it stopped. Changes since then are sent.'}</p>
    ${postForm(request, action, html`
      ${hiddenField('status', isActive ? 'disabled' : 'active')}
      <button>${label}</button>`)}`);
}

/** POST /portal/webhooks/{webhook_id}/test: 303, 404, 503 */
export const testWebhook: Submit = async (request, portal) => {
  const webhook = await getWebhook(request, portal);
  const { n } = await getWebhooks(portal).sendTest(webhook);
  return redirect(request.link(`${pathOf(webhook)}?done=sent&attempt=${n}`));
};

/** POST /portal/webhooks/{webhook_id}/attempts/{n}/resend: 303, 404, 410, 503 */
export const resendMessage: Submit = async (request, portal) => {
  const webhook = await getWebhook(request, portal);
  const attempt = await getAttempt(portal, webhook, request.parameters);
  const { n } = await getWebhooks(portal).resend(webhook, attempt);
  return redirect(request.link(`${pathOf(webhook)}?done=sent&attempt=${n}`));
};

/** POST /portal/webhooks/{webhook_id}/retry: 303, 404 */
export const retryNow: Submit = async (request, portal) => {
  const webhook = await getWebhook(request, portal);
  const last = await findLastAttempt(portal, webhook);
  // It may have been retried since the page was shown.
  const next = needsAttention(webhook) ? last + 1 : last;
  if (next > last) await portal.store.retryWebhook(toWriteContext(request), webhook.id);
  // Any node may send it: the log has the result. There is none if it disables the webhook again.
  const deadline = performance.now() + WEBHOOK_RETRY_WAIT_MS;
  while (await findLastAttempt(portal, webhook) < next && performance.now() < deadline) {
    if ((await portal.store.findWebhook(webhook))?.status !== 'active') break;
    await setTimeout(WEBHOOK_RETRY_POLL_MS);
  }
  return redirect(request.link(`${pathOf(webhook)}?done=sent&attempt=${next}`));
};

/** The number of the newest attempt; 0 without one. */
async function findLastAttempt({ store }: Portal, webhook: WebhookReference): Promise<number> {
  const [last] = await store.listWebhookAttempts(webhook, { before: undefined, limit: 1 });
  return last?.n ?? 0;
}

/** POST /portal/webhooks/{webhook_id}/status: 303, 400, 404 */
export const switchWebhook: Submit = async (request, portal, form) => {
  const webhook = await getWebhook(request, portal);
  const patch = await parseWebhookPatch({ status: form.get('status') }, async () => undefined);
  await portal.store.patchWebhook(toWriteContext(request), webhook.id, patch);
  const notice = patch.status === 'active' ? 'enabled' : 'disabled';
  return redirect(request.link(`${pathOf(webhook)}?done=${notice}`));
};

/** POST /portal/webhooks/{webhook_id}/rotate: 200, 400, 404, 409 */
export const rotateSecret: Submit = async (request, portal, form) => {
  const { id } = await getWebhook(request, portal);
  const overlapMs = readOverlap(form);
  const write = toWriteContext(request, form);
  return renderSecretOnce(request, portal, () =>
    portal.store.rotateWebhookSecret(write, id, overlapMs));
};

/** GET /portal/webhooks/{webhook_id}/delete: 200, 404. POST: 303, 400, 404, 422 */
export const webhookDeletionForm = defineFormPage({
  fields: [],
  async page(request, portal) {
    const webhook = await getWebhook(request, portal);
    return {
      title: `Delete webhook: ${nameOf(webhook)}`, cancel: pathOf(webhook),
      submit: 'Delete webhook', isDestructive: true, hidden: nonceField(),
      before: html`<p>No more messages will be sent to ${webhook.url}, and its delivery log will be
        deleted. This cannot be undone.</p>`,
    };
  },
  async save(_, request, portal, { form }) {
    // After a double click the webhook is already gone; the store then replays the first deletion.
    const { id } = referenceOf(request, portal);
    await portal.store.deleteWebhook(toWriteContext(request, form), id);
    return redirect(request.link('/webhooks?done=deleted'));
  },
});
