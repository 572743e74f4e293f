/** How far an import is, and what came of it: numbers of bytes and rows, and a file of the rest. */
import type { Format } from '../html/format.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import type { ProductImport } from './product-import.ts';
import type { RowCounts, RowProgress } from './row-reading.ts';
import { PREVIEW_REASON_BYTES } from '../limits.ts';
import { facts } from '../html/elements.ts';
import type { PageRequest } from '../route.ts';
import { advise } from './settings-page.ts';

const KIB = 1024;

/** In KiB or MiB, with a decimal where it is short. */
export function formatSize(format: Format, bytes: number): string {
  const [value, unit] = bytes < KIB * KIB ? [bytes / KIB, 'KiB'] : [bytes / KIB / KIB, 'MiB'];
  return `${format.number(value < 10 ? Math.ceil(value * 10) / 10 : Math.round(value))} ${unit}`;
}

export function countPercent({ readBytes, sizeBytes }: RowProgress): number {
  return Math.floor(100 * readBytes / sizeBytes);
}

/** What goes on, in a part of the page that a script keeps up to date. */
export function renderProgress({ format, link }: PageRequest, one: ProductImport): Html {
  const { progress, phase } = one;
  const percent = countPercent(progress);
  const [read, size] = [progress.readBytes, progress.sizeBytes].map((n) => formatSize(format, n));
  return html`<section class="card" id="progress" data-phase="${phase}">
    <p><label for="progress-bar">${phase === 'trying' ? 'Checking the file' : 'Importing'}:
      ${percent} %</label></p>
    <p><progress id="progress-bar" max="100" value="${percent}">${percent} %</progress></p>
    <p class="read">${read} of ${size}, ${countRows(format, progress.rows)} so far.</p>
    ${renderCounts(format, progress.counts, phase === 'trying')}
    <p><a class="button" href="${link(`/import/${one.id}`)}">Refresh</a></p>
  </section>`;
}

/** How an import has ended. */
export function renderResult({ format, link }: PageRequest, one: ProductImport): Html {
  const { phase, progress, problem } = one;
  const { created, updated, unchanged, failed } = progress.counts;
  const imported = created + updated + unchanged;
  const rows = countRows(format, progress.rows);
  const isSmooth = phase === 'done' && failed === 0;
  const how: Content = isSmooth ? html`Import complete: ${rows}.`
    : phase === 'done' ? html`${format.number(imported)} of ${rows} imported;
      ${format.number(failed)} rejected.`
    : phase === 'cancelled' ? html`Import cancelled after ${rows}. Imported rows are kept.`
      : html`The import failed after ${rows}: ${problem} Imported rows are kept. Correct the cause,
        then upload the file again to continue.`;
  return html`<div class="notice${isSmooth ? '' : ' low'}" role="status"><p>${how}</p></div>
    <div class="card">${renderCounts(format, progress.counts, false)}${renderAdvice(one)}</div>
    ${renderRefused(link(`/import/${one.id}/refused`), format, one)}`;
}

export function renderCounts(format: Format, counts: RowCounts, isTried: boolean): Html {
  return facts([
    [isTried ? 'Will be created' : 'Created', format.number(counts.created)],
    [isTried ? 'Will be updated' : 'Updated', format.number(counts.updated)],
    ['Unchanged', format.number(counts.unchanged)],
    [isTried ? 'Will be rejected' : 'Rejected', format.number(counts.failed)],
    ...counts.skipped > 0 ? [['Rows without a product', format.number(counts.skipped)] as const]
      : [],
  ]);
}

export function renderAdvice(one: ProductImport): Content {
  const advice = advise(one);
  return advice !== undefined && html`<p>${shorten(advice, PREVIEW_REASON_BYTES)}</p>`;
}

export function countRows(format: Format, rows: number): string {
  return rows === 1 ? '1 row' : `${format.number(rows)} rows`;
}

function renderRefused(href: string, format: Format, one: ProductImport): Content {
  if (one.progress.counts.failed === 0) return undefined;
  const { file, isComplete } = one.refused;
  const noFile = 'The rejected rows could not be saved: the disk of the server is full.';
  if (!file) return html`<p>${noFile}</p>`;
  return html`<section class="card"><h2>Rejected rows</h2>
    <p>${isComplete ? 'All' : 'The first'} rejected rows are in a file with the format of yours${
  one.upload.head.format === 'csv' && ', with a column that says why each was rejected'}. Correct
      them there, and upload that file. It is kept for one day.</p>
    <p><a class="button main" href="${href}" download>Download rejected rows
      (${formatSize(format, file.sizeBytes)})</a></p>
  </section>`;
}
