/**
 * The catalogue's history: the changes page, and the stream that keeps open pages current. An
 * import is one line that expands to its first changes, also without scripts.
 */
import { type Change, CHANGE_TYPES } from '../../../domain/catalogue/change.ts';
import { countChanges, type ImportRecord } from '../../../domain/catalogue/import.ts';
import type { ImportId } from '../../../domain/id.ts';
import { findPosition, toRevision } from '../../../domain/revision.ts';
import type { MovementFilter } from '../../../store/history-store.ts';
import { openChangeStream } from '../../changes/change-stream.ts';
import { renderSavedFilters } from '../filters/saved-filters.ts';
import { CHANGE_TYPE_CHOICES } from '../forms/change-types.ts';
import { renderPresets } from '../forms/date-range.ts';
import type { Field } from '../forms/fields.ts';
import { filterState, readFilters, renderFilters } from '../forms/filter.ts';
import { countList, readStart, renderPager } from '../forms/paging.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { describeChange, describeEffects } from '../history/change-description.ts';
import { type HistoryPage, readHistoryPage } from '../history/history-page.ts';
import { details, type Row, table } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { readKeyNames } from '../keys/key-names.ts';
import { KEY_NAME_BYTES, LIVE_CATCH_UP_LIMIT } from '../limits.ts';
import { pathOf } from '../products/product-path.ts';
import {
  changesOf, findRecords, nameOf, pathOf as recordPathOf, renderLink, renderStatus,
} from '../records/import-record.ts';
import type { PageRequest, Portal, Show } from '../route.ts';
import { HISTORY_FIELDS, readHistoryFilter, renderFilteredImport } from './history-filter.ts';

export const CHANGE_FIELDS: readonly Field[] = [
  {
    name: 'type', label: 'Type', control: 'select',
    choices: [{ value: '', label: 'All changes' }, ...CHANGE_TYPE_CHOICES],
  },
  ...HISTORY_FIELDS,
  {
    name: 'up_to', label: 'Position', inputMode: 'numeric', isDetail: true,
    hint: 'Show changes up to this position',
  },
];
const SKU_BYTES = 80;

/** GET /portal/changes: 200, 400 */
export const showChanges: Show = async (request, portal) => {
  const { link, account: { sellerId } } = request;
  const search = readSearch(request, portal);
  const { filter, upTo, isCollapsed, state: { form } } = search;
  const page = await readHistoryPage(request, portal, search);
  const count = () => portal.store.countMovements(sellerId, { filter, after: 0, upTo });
  const total = await (isCollapsed ? count() : countList(page, count));
  return renderPage(request, portal, {
    title: 'Changes',
    state: search.state, fields: CHANGE_FIELDS,
    content: html`${renderFilters(link('/changes'), CHANGE_FIELDS, search.state)}
      ${await renderSavedFilters(request, portal, 'changes', form)}
      ${renderPresets(request, portal, form, (filters) => link('/changes', filters))}
      <p><a href="${link('/movements')}">Stock movements of all products</a></p>
      ${await renderFilteredImport(request, portal, filter, 'Changes')}
      ${table({
    caption: 'Changes, newest first',
    columns: ['Change', 'Product', 'When', 'By', 'Details'],
    rows: await renderRows(request, portal, search, page),
    empty: renderEmpty(request, search, page),
  })}
      ${page.rows.length > 0 && page.next === undefined && renderEnd(request, page)}
      ${renderPager(request, {
    path: '/changes', filters: form, noun: 'changes', page, total, isGrouped: isCollapsed,
  })}`,
  });
};

/** GET /portal/live: 200, 410, 503. The change stream for open pages, until the session ends. */
export const followLive: Show = async (request, portal) => {
  const { account: { sellerId }, position: current, generation } = request;
  const lastId = String(request.headers['last-event-id'] || request.query.get('after'));
  const after = findPosition(lastId, generation) ?? Infinity;
  const isNear = after <= current && current - after <= LIVE_CATCH_UP_LIMIT;
  return openChangeStream({
    sellerId, after: isNear ? after : current,
    // A page that has missed too many changes gets this event and continues from now.
    ...(!isNear && {
      preface: `event: missed\nid: ${toRevision(generation, current)}\ndata: {}\n\n`,
    }),
    openStream: request.openStream,
    disconnectSignal: request.disconnectSignal,
  }, portal);
};

type Search = ReturnType<typeof readSearch>;

function readSearch(request: PageRequest, portal: Portal) {
  const { query, account: { sellerId } } = request;
  const form = readFilters(query, CHANGE_FIELDS);
  const errors = new Map<string, string>();
  const [type, position] = [form.get('type'), form.get('up_to')];
  const types = CHANGE_TYPES.filter((candidate) => type === '' || candidate === type);
  if (types.length === 0) errors.set('type', 'Choose one of the listed types.');
  const upTo = findWholeNumber(position) || undefined;
  if (position !== '' && upTo === undefined) {
    errors.set('up_to', 'Must be a whole number of at least 1.');
  }
  const history = readHistoryFilter(request, form, errors);
  const { productId, sku, importId, keyId } = history;
  const shownTypes = types.length === 0 ? CHANGE_TYPES : types;
  const filter: MovementFilter = { types: shownTypes, ...history };
  // A filter selects changes themselves; otherwise each import is one line.
  const isCollapsed = shownTypes.length === CHANGE_TYPES.length
    && [productId, sku, importId, keyId].every((condition) => condition === undefined);
  const scope = `changes ${sellerId} ${JSON.stringify([filter, upTo])}`;
  const start = readStart<number>(request, portal, scope, errors);
  return {
    filter, isCollapsed, scope, start, state: filterState(form, errors),
    /** The newest position to show. */
    upTo: upTo ?? Number.MAX_SAFE_INTEGER,
  };
}

async function renderRows(
  request: PageRequest, portal: Portal, { filter, isCollapsed }: Search,
  { rows: changes, prunedTo }: HistoryPage,
): Promise<readonly Row[]> {
  const { account: { sellerId }, format, link } = request;
  const { store } = portal;
  const records = filter.importId === undefined
    ? await findRecords(request, portal, changes.flatMap(({ importId }) => importId ?? []))
    : new Map<ImportId, ImportRecord>();
  const lines = await readImportLines(portal, isCollapsed ? records.values() : [], prunedTo);
  const keyNames = await readKeyNames(store, sellerId, changes.map(({ keyId }) => keyId));
  const shownChanges = changes.flatMap((change) =>
    (change.importId && lines.get(change.importId)?.first) ?? change);
  const edited = shownChanges.filter(({ type }) => type === 'updated');
  const before = await store.findPreviousSnapshots(
    sellerId, edited.map(({ position }) => position),
  );
  const ids = [...new Set(changes.map(({ productId }) => productId))];
  const products = await store.findProducts(sellerId, ids);
  const paths = new Map([...products].map(([id, product]) => [id, pathOf(product)]));
  return changes.map((change) => {
    const { position, at, productId, sku, keyId, actor, importId } = change;
    const line = importId && lines.get(importId);
    const record = importId && records.get(importId);
    const name = html`<code>${shorten(sku, SKU_BYTES)}</code>`;
    const path = paths.get(productId);
    return [
      line ? renderImportLine(request, line, before)
        : html`${describeChange(request, change, before.get(position))}${
    record && html`<p class="quiet">${renderLink(request, record)}</p>`}`,
      !line && (path === undefined ? name : html`<a href="${link(path)}">${name}</a>`),
      format.timeElement(at),
      html`<bdi>${shorten(actor ?? keyNames.get(keyId) ?? '', KEY_NAME_BYTES)}</bdi>`,
      details(`Position ${format.number(position)}`),
    ];
  });
}

function renderEmpty(request: PageRequest, search: Search, page: HistoryPage): Html {
  const { link } = request;
  if (page.next !== undefined) {
    return html`<p>No matches so far. The next page searches further back.</p>`;
  }
  const end = renderEnd(request, page);
  if (search.state.form.size > 0) {
    return html`<p>No changes match. <a href="${link('/changes')}">Show all changes</a></p>${end}`;
  }
  if (end) return end;
  return html`<h2>No changes yet</h2>${request.may('editor') && html`
    <p class="row middle centre">
      <a class="button primary" href="${link('/products/new')}">Create a product</a>
      <a class="button" href="${link('/import')}">Import a file</a></p>`}`;
}

/** The note on pruned history; undefined if nothing was pruned. */
function renderEnd({ format }: PageRequest, { prunedTo }: HistoryPage): Html | undefined {
  if (prunedTo === 0) return undefined;
  return html`<p class="quiet">The history starts here. Older changes were removed at the end
    of their retention period.</p>${details(html`<p class="small">Removed up to position ${
      format.number(prunedTo)}</p>`)}`;
}

/** An import with several changes, and the first ones. */
interface ImportLine {
  readonly record: ImportRecord;
  readonly first: readonly Change[];
}

/** Changes in a line, and effects of each. */
const CHANGES_SHOWN = 3;
const EFFECTS_SHOWN = 2;
const [LINE_SKU_BYTES, LINE_NAME_BYTES] = [45, 40];

/** The lines of imports by id. One with a single change has none: the change itself says more. */
async function readImportLines(
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
function renderImportLine(
  request: PageRequest, { record, first }: ImportLine, before: ReadonlyMap<number, string>,
): Html {
  const { format, link } = request;
  const count = `${format.number(countChanges(record))} changes`;
  return html`<details class="import"><summary><bdi>${nameOf(record)}</bdi>: ${count}${
    record.finishedAt === undefined && html` ${renderStatus(record)}`}</summary>
    <ul class="lines">${first.map((change) => html`
      <li><code>${shorten(change.sku, LINE_SKU_BYTES)}</code> ${
  describeEffects(request, change, before.get(change.position), LINE_NAME_BYTES)
    .slice(0, EFFECTS_SHOWN).map((effect, index) => html`${index > 0 && ', '}${effect}`)}</li>`)}
    </ul>
    <p class="row"><a href="${link('/changes', changesOf(record))}">All ${count}</a>
      <a href="${link(recordPathOf(record))}">About this import</a></p></details>`;
}
