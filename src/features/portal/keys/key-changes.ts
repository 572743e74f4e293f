/** What an API key changed, and the form that opens the preview of its revert. */
import type { ApiKey } from '../../../domain/access/api-key.ts';
import { CHANGE_TYPES } from '../../../domain/catalogue/change.ts';
import { type Choice, type Field, postForm, renderFields } from '../forms/fields.ts';
import { describeChange } from '../history/change-description.ts';
import { card, table } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { KEY_CHANGES_SHOWN } from '../limits.ts';
import { hasPage, type PageRequest, type Portal } from '../route.ts';
import { formatId } from './key-facts.ts';

const SKU_BYTES = 100;
/** Instead of a duration. */
export const ALWAYS = 'always';
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
  request: PageRequest, portal: Portal, key: ApiKey,
): Promise<Html> {
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
    <p><a href="${link('/changes', new URLSearchParams({ key: formatId(key) }))}">
      All changes made with this key</a></p>
    ${canRevert && postForm(request, link(`/leaked/${formatId(key)}/revert`), html`
      ${renderFields(FIELDS)}
      <button>Preview revert</button>
      <p class="hint">Shows what will be restored. Products that somebody else changed since are
        left alone, unless you choose otherwise. The programs that you gave this key made some of
        these changes.</p>`)}`);
}
