/** Import records: the list of all imports, and the page of one. */
import {
  countChanges, IMPORT_KINDS, type ImportRecord, type RevertedChanges,
} from '../../../domain/catalogue/import.ts';
import { formatImportId, formatKeyId, type ImportId } from '../../../domain/id.ts';
import type { Field } from '../forms/fields.ts';
import { filterState, readFilters, renderFilters } from '../forms/filter.ts';
import { countList, readNewestFirst, renderPager } from '../forms/paging.ts';
import { facts, numeric, renderPositions, table } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { readKeyNames } from '../keys/key-names.ts';
import { KEY_NAME_BYTES, PORTAL_PAGE_ROWS, SOURCE_BYTES } from '../limits.ts';
import { hasPage, type PageRequest, type Portal, type Show } from '../route.ts';
import {
  changesOf, getRecord, KIND_CHOICES, nameOf, renderLink, renderRevertButton, renderStatus,
} from './import-record.ts';

const FIELDS: readonly Field[] = [{
  name: 'kind', label: 'Type', control: 'select',
  choices: [{ value: '', label: 'All imports' }, ...KIND_CHOICES],
}];

const OUTCOMES: readonly (readonly [name: string, label: string])[] = [
  ['created', 'Created'], ['updated', 'Updated'], ['applied', 'Stock changed'],
  ['zeroed', 'Set to 0'], ['restored', 'Restored'], ['deleted', 'Deleted'],
  ['recreated', 'Created again'], ['unchanged', 'Unchanged'], ['failed', 'Rejected'],
  ['conflicts', 'Left alone, changed since'], ['skipped', 'Rows without a product'],
];

/** GET /portal/imports: 200, 400 */
export const showRecords: Show = async (request, portal) => {
  const { account: { sellerId }, query, link } = request;
  const form = readFilters(query, FIELDS);
  const kind = IMPORT_KINDS.find((candidate) => candidate === form.get('kind'));
  const isKnown = kind !== undefined || form.get('kind') === '';
  const errors = new Map(isKnown ? [] : [['kind', 'Choose one of the listed types.']]);
  const page = await readNewestFirst<ImportRecord, ImportId>(request, portal, errors, {
    scope: `import records ${sellerId} ${kind}`, limit: PORTAL_PAGE_ROWS, keyOf: ({ id }) => id,
    read: (range) => portal.store.listImports(sellerId, { ...range, kind }),
  });
  const state = filterState(form, errors);
  const total = await countList(page, () => portal.store.countImports(sellerId, kind));
  return renderPage(request, portal, {
    title: 'Imports',
    state, fields: FIELDS,
    content: html`<p>Imports of files, stock syncs and stocktakes, from this portal and from
        programs.</p>
      ${renderFilters(link('/imports'), FIELDS, state)}
      ${await renderRecords(request, portal, page.rows)}
      ${renderPager(request, { path: '/imports', filters: form, noun: 'imports', page, total })}`,
  });
};

/** A table of records, newest first. */
export async function renderRecords(
  request: PageRequest, portal: Portal, records: readonly ImportRecord[],
): Promise<Html> {
  const { account: { sellerId }, format, link } = request;
  const keyNames = await readKeyNames(
    portal.store, sellerId, records.map(({ keyId }) => keyId),
  );
  return table({
    caption: 'Imports, newest first',
    columns: ['Import', 'Status', numeric('Changes'), numeric('Rejected'), 'When', 'By'],
    rows: records.map((record) => [
      renderLink(request, record),
      renderStatus(record),
      format.number(countChanges(record)),
      format.number(record.counts['failed'] ?? 0),
      format.timeElement(record.startedAt),
      renderName(record.actor ?? keyNames.get(record.keyId)),
    ]),
    empty: html`<p>No imports. ${request.may('editor') && hasPage(portal, '/import') && html`
      <a href="${link('/import')}">Import a file</a> to create or update many products at
      once.`}</p>`,
  });
}

/** GET /portal/imports/{import_id}: 200, 404 */
export const showRecord: Show = async (request, portal) => {
  const { link } = request;
  const record = await getRecord(request, portal);
  const { sellerId, keyId, actor, finishedAt } = record;
  const keyNames = await readKeyNames(portal.store, sellerId, [keyId]);
  const changes = countChanges(record);
  return renderPage(request, portal, {
    title: nameOf(record),
    content: html`${finishedAt === undefined && html`<div class="notice low"><p>This import is still
        running, or it stopped before its end. What it changed is kept.</p></div>`}
      <div class="card">
        ${renderFacts(request, record, actor ?? keyNames.get(keyId))}
        ${renderPositions(request, record.firstPosition, record.lastPosition)}
        ${changes > 0 && html`<div class="actions">
          ${hasPage(portal, '/changes') && html`
            <a class="button" href="${link('/changes', changesOf(record))}">View changes</a>`}
          ${hasPage(portal, '/imports/{import_id}/revert')
            && renderRevertButton(request, record)}</div>`}
      </div>
      <p><a href="${link('/imports')}">All imports</a></p>`,
  });
};

function renderFacts(request: PageRequest, record: ImportRecord, by: string | undefined): Html {
  const { format } = request;
  const { counts, source, reverts, finishedAt } = record;
  return facts([
    ['ID', html`<code>${formatImportId(record.sellerId, record.id)}</code>`],
    ['Status', renderStatus(record)],
    ['Started', format.fullTimeElement(record.startedAt)],
    finishedAt !== undefined && ['Finished', format.fullTimeElement(finishedAt)],
    ['By', renderName(by)],
    record.address !== undefined && ['Address', html`<code>${record.address}</code>`],
    record.mode !== undefined && ['Mode', html`<code>${record.mode}</code>`],
    source !== undefined && ['Source', html`<bdi>${shorten(source, SOURCE_BYTES)}</bdi>`],
    reverts !== undefined && ['Reverted', renderReverted(request, record, reverts)],
    ...OUTCOMES.map(([name, label]) =>
      counts[name] !== undefined && [label, format.number(counts[name])] as const),
  ]);
}

function renderReverted(
  { format, link }: PageRequest, { sellerId }: ImportRecord,
  { importId, after, upTo, keyId, source }: RevertedChanges,
): Html {
  if (importId !== undefined) {
    const id = formatImportId(sellerId, importId);
    return html`<a href="${link(`/imports/${id}`)}">An earlier import</a>`;
  }
  return html`Changes ${format.number(after + 1)}–${format.number(upTo)}${
    keyId !== undefined && html`, key <code>${formatKeyId({ sellerId, keyId })}</code>`}${
    source !== undefined && html`, source <bdi>${shorten(source, SOURCE_BYTES)}</bdi>`}`;
}

function renderName(name = ''): Html {
  return html`<bdi>${shorten(name, KEY_NAME_BYTES)}</bdi>`;
}
