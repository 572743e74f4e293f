/**
 * An import on the changes page: one line that expands to its first changes, also without scripts,
 * and a link to all of them.
 */
import type { Change } from '../../../domain/catalogue/change.ts';
import { countChanges, type ImportRecord } from '../../../domain/catalogue/import.ts';
import type { ImportId } from '../../../domain/id.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { changesOf, nameOf, pathOf, renderStatus } from '../records/import-record.ts';
import type { PageRequest, Portal } from '../route.ts';
import { describeEffects } from '../history/change-description.ts';

/** An import with several changes, and the first ones. */
interface ImportLine {
  readonly record: ImportRecord;
  readonly first: readonly Change[];
}

/** Changes in a line, and effects of each. */
const CHANGES_SHOWN = 3;
const EFFECTS_SHOWN = 2;
const [SKU_BYTES, NAME_BYTES] = [45, 40];

/** The lines of imports by id. One with a single change has none: the change itself says more. */
export async function readImportLines(
  { store }: Portal, records: Iterable<ImportRecord>, prunedTo: number,
): Promise<ReadonlyMap<ImportId, ImportLine>> {
  const lines = await Promise.all([...records].filter((record) => countChanges(record) > 1)
    .map(async (record) => {
      const { sellerId, id: importId, firstPosition = 1 } = record;
      const after = Math.max(prunedTo, firstPosition - 1);
      const { changes: first } = await store.listChanges(
        sellerId, { after, limit: CHANGES_SHOWN, importId },
      );
      return [importId, { record, first }] as const;
    }));
  return new Map(lines);
}

/** @param before Previous snapshots of changed products, by position. */
export function renderImportLine(
  request: PageRequest, { record, first }: ImportLine, before: ReadonlyMap<number, string>,
): Html {
  const { format, link } = request;
  const count = `${format.number(countChanges(record))} changes`;
  return html`<details class="import"><summary><bdi>${nameOf(record)}</bdi>: ${count}${
    record.finishedAt === undefined && html` ${renderStatus(record)}`}</summary>
    <ul class="lines">${first.map((change) => html`
      <li><code>${shorten(change.sku, SKU_BYTES)}</code> ${
  describeEffects(request, change, before.get(change.position), NAME_BYTES).slice(0, EFFECTS_SHOWN)
    .map((effect, index) => html`${index > 0 && ', '}${effect}`)}</li>`)}
    </ul>
    <p class="row"><a href="${link('/changes', changesOf(record))}">All ${count}</a>
      <a href="${link(pathOf(record))}">About this import</a></p></details>`;
}
