/**
 * What to do about a leaked API key: identify it, end it, replace it, see what it did, and open the
 * preview of a revert of its changes. Each step is one form of this page, so a shop ends a leaked
 * key within a minute.
 */
import { type ApiKey, maskApiKey } from '../../../domain/access/api-key.ts';
import { CHANGE_TYPES } from '../../../domain/catalogue/change.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { type Choice, type Field, postForm, renderFields } from '../forms/fields.ts';
import { type FormState, initialState, nonceField, readNonce } from '../forms/form.ts';
import { describeChange } from '../history/change-description.ts';
import { card, facts, flashNotice, table } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { KEY_CHANGES_SHOWN, PORTAL_PAGE_ROWS } from '../limits.ts';
import { readDayUsage, renderUsagePlot, USAGE_TITLE } from '../overview/request-stats.ts';
import { hasPage, type PageRequest, type Portal, type Show, type Submit } from '../route.ts';
import { FIND_FIELDS, identifyKey, renderFindForm } from './keys.ts';
import {
  formatId, getKey, isActive, KEY_FACTS, type KeyContext, pathOf, readKeyContext, renderLastUse,
} from './key-facts.ts';
import { renderCreated } from './key-form.ts';

const DONE = new Map([['revoked', 'Key revoked. Its next request is rejected.']]);

/** GET /portal/leaked: 200. The form to paste the key in, and the keys to choose from. */
export async function showLeaked(
  request: PageRequest, portal: Portal, state: FormState = initialState(),
): Promise<Reply> {
  const { account: { sellerId }, format, link } = request;
  const keys = await portal.store.listKeys(
    sellerId, { after: undefined, limit: PORTAL_PAGE_ROWS, liveAt: portal.clock() }, true,
  );
  return renderPage(request, portal, {
    title: 'Leaked API key',
    state, fields: FIND_FIELDS,
    content: html`<p>A key is leaked if somebody else may have read it: in a public repository, a
        screenshot, a message or a log. Find the key here to revoke it and to see what it did.</p>
      <div class="card">${renderFindForm(request, '/leaked', state)}</div>
      ${keys.length > 0 && html`<h2>Or choose the key</h2>${table({
      caption: 'The newest keys that work',
      columns: ['Key', 'Ends with', 'Last used'],
      rows: keys.map((key) => [
        html`<a href="${link(leakedPathOf(key))}">${key.name}</a>`,
        html`<code>${maskApiKey(key)}</code>`, renderLastUse(format, key),
      ]),
    })}`}
      <p><a href="${link('/keys')}">All API keys</a></p>`,
  });
}

/** POST /portal/leaked: 303, 422 */
export const findLeaked: Submit = async (request, portal, form) => {
  const outcome = await identifyKey(request, portal, form);
  return 'key' in outcome ? redirect(request.link(leakedPathOf(outcome.key)))
    : showLeaked(request, portal, outcome);
};

/** GET /portal/leaked/{key_id}: 200, 404 */
export const showLeakedKey: Show = async (request, portal) => {
  const key = await getKey(request, portal);
  const { account: { sellerId }, format, link } = request;
  const context = await readKeyContext(request, portal);
  const usage = await readDayUsage(portal, sellerId, key.id);
  return renderPage(request, portal, {
    title: `Leaked API key: ${key.name}`,
    content: html`${flashNotice(request, DONE)}
      ${renderEnding(request, key, context)}
      <div class="columns">
        ${card('details', 'Details', facts([
      ['Key', html`<a href="${link(pathOf(key))}"><code>${maskApiKey(key)}</code></a>`],
      ...KEY_FACTS.map(([label, render]) => [label, render(key, context)] as const),
    ]))}
        ${card('did', USAGE_TITLE, html`${renderUsagePlot(
      format, usage, link(`/reports/key-requests?key=${formatId(key)}`),
    )}
          <p>Only the last address is kept. Rejected requests changed nothing.</p>`)}
      </div>
      ${await renderKeyChanges(request, portal, key)}`,
  });
};

/** POST /portal/leaked/{key_id}/revoke: 303, 404 */
export const revokeLeaked: Submit = async (request, portal) => {
  const key = await getKey(request, portal);
  await portal.store.revokeKey({ sellerId: key.sellerId, keyId: key.id }, request.by);
  return redirect(request.link(`${leakedPathOf(key)}?done=revoked`));
};

/**
 * POST /portal/leaked/{key_id}/replace: 200, 400, 404, 409. Creates a key with the same
 * permissions, and revokes the leaked one.
 */
export const replaceLeaked: Submit = async (request, portal, form) => {
  const key = await getKey(request, portal);
  const { by } = request;
  const reference = { sellerId: key.sellerId, keyId: key.id };
  const context = { ...by, idempotency: readNonce(form) };
  return renderCreated(request, portal, key.scopes, async (secret) => {
    const successor = await portal.store.rotateKey(reference, secret, 0, context);
    await portal.store.revokeKey(reference, by);
    return successor;
  }, html`
    <p>The leaked key is revoked.</p>
    <p><a class="button" href="${request.link(leakedPathOf(key))}">See what the leaked key did</a>
    </p>`);
};

function leakedPathOf(key: ApiKey): string {
  return `/leaked/${formatId(key)}`;
}

/** The buttons that end the key; for one that has ended, a link to create another. */
function renderEnding(request: PageRequest, key: ApiKey, { now }: KeyContext): Html {
  const { link } = request;
  const path = link(leakedPathOf(key));
  if (!isActive(key, now)) {
    return html`<p>This key no longer works.
      <a href="${link('/keys/new')}">Create another key</a> if a program needs it.</p>`;
  }
  return card('end', 'End this key', html`
    <p>Its next request is rejected. This cannot be undone. The new key has the same name,
      permissions and addresses; put it into the program that used the leaked one.</p>
    <div class="row middle">
      ${postForm(request, `${path}/replace`, html`${nonceField()}
        <button class="danger">Revoke and create new key</button>`, '')}
      ${postForm(request, `${path}/revoke`, html`
        <button class="danger">Revoke only</button>`, '')}
    </div>`);
}

const SKU_BYTES = 100;
/** Instead of a duration. */
export const ALWAYS = 'always';
const SINCE: readonly Choice[] = [
  { value: '1h', label: 'The last hour' }, { value: '24h', label: 'The last 24 hours' },
  { value: '7d', label: 'The last 7 days' }, { value: '30d', label: 'The last 30 days' },
  { value: ALWAYS, label: 'All since the key was created' },
];
const REVERT_FIELDS: readonly Field[] = [
  { name: 'since', label: 'Changes to undo', control: 'select', choices: SINCE, initial: '24h' },
];

/** Its newest changes. */
async function renderKeyChanges(request: PageRequest, portal: Portal, key: ApiKey): Promise<Html> {
  const { account: { sellerId }, format, link } = request;
  const { movements } = await portal.store.listMovements(sellerId, {
    filter: { types: CHANGE_TYPES, keyId: key.id, since: key.createdAt }, after: 0,
    upTo: Number.MAX_SAFE_INTEGER, isDescending: true, limit: KEY_CHANGES_SHOWN,
  });
  const canRevert = movements.length > 0 && hasPage(portal, '/leaked/{key_id}/revert');
  return card('changed', 'What it changed', html`${table({
    caption: 'The newest changes made with this key',
    columns: ['Change', 'Product', 'When'],
    rows: movements.map((change) => [
      describeChange(request, change, undefined),
      html`<code>${shorten(change.sku, SKU_BYTES)}</code>`, format.timeElement(change.at),
    ]),
    empty: html`<p>Nothing found among the newest changes of the catalogue.</p>`,
  })}
    ${hasPage(portal, '/changes') && html`
      <p><a href="${link('/changes', new URLSearchParams({ key: formatId(key) }))}">
        All changes made with this key</a></p>`}
    ${canRevert && postForm(request, link(`/leaked/${formatId(key)}/revert`), html`
      ${renderFields(REVERT_FIELDS)}
      <button>Preview revert</button>
      <p class="hint">Shows what will be restored. Products that somebody else changed since are
        left alone, unless you choose otherwise. The programs that you gave this key made some of
        these changes.</p>`)}`);
}
