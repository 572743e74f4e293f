/** What an API key changed, and the form that leads to the preview of its revert. */
import type { ApiKey } from '../../../domain/access/api-key.ts';
import { CHANGE_TYPES } from '../../../domain/catalogue/change.ts';
import { DAY_MS, findDuration } from '../../../domain/time.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { type Choice, type Field, postForm, renderFields } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import { describeChange } from '../history/change-description.ts';
import { card, table } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { startPreview } from '../imports/revert/revert-page.ts';
import { KEY_CHANGES_SHOWN, KEY_NAME_BYTES } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';
import { formatId, getKey } from './key-facts.ts';

const SKU_BYTES = 100;
const ALWAYS = 'always';
const SINCE: readonly Choice[] = [
  { value: '1h', label: 'The last hour' }, { value: '24h', label: 'The last 24 hours' },
  { value: '7d', label: 'The last 7 days' }, { value: '30d', label: 'The last 30 days' },
  { value: ALWAYS, label: 'All since the key was created' },
];
const FIELDS: readonly Field[] = [
  { name: 'since', label: 'Changes to undo', control: 'select', choices: SINCE, initial: '24h' },
];

/** Its newest changes. */
export async function renderKeyChanges(
  request: PageRequest, { store }: Portal, key: ApiKey,
): Promise<Html> {
  const { account: { sellerId }, format, link } = request;
  const { movements } = await store.listMovements(sellerId, {
    filter: { types: CHANGE_TYPES, keyId: key.id, since: key.createdAt }, after: 0,
    upTo: Number.MAX_SAFE_INTEGER, isDescending: true, limit: KEY_CHANGES_SHOWN,
  });
  return card('changed', 'What it changed', html`${table({
    caption: 'The newest changes made with this key',
    columns: ['Change', 'Product', 'When'],
    rows: movements.map((change) => [
      describeChange(request, change, undefined),
      html`<code>${shorten(change.sku, SKU_BYTES)}</code>`, format.timeElement(change.at),
    ]),
    empty: html`<p>Nothing found among the newest changes of the catalogue.</p>`,
  })}
    <p><a href="${link('/changes', new URLSearchParams({ key: formatId(key) }))}">
      All changes made with this key</a></p>
    ${movements.length > 0 && postForm(request, link(`/leaked/${formatId(key)}/revert`), html`
      ${renderFields(FIELDS)}
      <button>Preview the undo</button>
      <p class="hint">Shows first what goes back. Products that somebody else changed since are left
        alone, unless you choose otherwise. The programs that you gave this key made some of these
        changes.</p>`)}`);
}

/** POST /portal/leaked/{key_id}/revert: 303, 404, 410, 503 */
export async function revertKeyChanges(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const key = await getKey(request, portal);
  const { sellerId, id: keyId, name, createdAt } = key;
  const lifeMs = findDuration(form.get('since')) ?? DAY_MS;
  // Before the key, there is nothing to undo.
  const since = form.get('since') === ALWAYS ? createdAt
    : Math.max(createdAt, portal.clock() - lifeMs);
  const after = await portal.store.findPositionAt(sellerId, since - 1);
  return startPreview(request, portal, {
    sellerId, selection: { after, upTo: request.position, keyId, source: undefined }, total: 0,
    name: `Key ${shorten(name, KEY_NAME_BYTES)}`,
    path: `/changes?key=${formatId(key)}`,
  });
}
