/** What an import would do: counts, what would be changed from what to what, and what refused. */
import type { NewProduct } from '../../../domain/catalogue/product-fields.ts';
import { postForm } from '../forms/fields.ts';
import type { Format } from '../html/format.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import type { Difference, Preview } from './preview.ts';
import type { ProductImport } from './product-import.ts';
import { DIFFERENCES_SHOWN, PREVIEW_REASON_BYTES, PREVIEW_TEXT_BYTES } from '../limits.ts';
import { numeric, table } from '../html/elements.ts';
import type { PageRequest } from '../route.ts';
import {
  countPercent, countRows, formatSize, renderAdvice, renderCounts,
} from './progress-page.ts';

export function renderPreview(request: PageRequest, one: ProductImport): Content {
  const { preview, problem, columns } = one;
  if (columns && !columns.isUsable) return renderMissing(columns.missing);
  if (!preview) {
    return html`<div class="notice bad" role="alert"><p>${problem}</p>
      <p>Nothing was changed.</p></div>`;
  }
  const { format } = request;
  return html`<section class="card" aria-labelledby="effect"><h2 id="effect">Summary</h2>
      <p>${describeExtent(request, one, preview)} Nothing has been changed yet.</p>
      ${columns && columns.missing.length > 0 && html`<p>There is no column for
        ${columns.missing.join(', ')}: existing products keep their values.</p>`}
      ${renderCounts(format, one.progress.counts, true)}
      ${renderAdvice(one)}
      ${renderCommit(request, one, preview)}
    </section>
    ${preview.differences.length > 0 && renderDifferences(format, preview.differences)}
    ${preview.refused.length > 0 && renderRefused(format, preview)}`;
}

function renderMissing(missing: readonly string[]): Html {
  const names = missing.join(', ');
  return html`<div class="notice low" role="status">
    <p>No column was found for <strong>${names}</strong>. Choose the columns below.</p>
    </div>`;
}

function describeExtent(
  { format }: PageRequest, { progress, upload }: ProductImport, { isWhole }: Preview,
): string {
  const rows = countRows(format, progress.rows);
  const size = formatSize(format, upload.file.sizeBytes);
  if (isWhole) return `Checked the whole file: ${rows}, ${size}.`;
  const percent = countPercent(progress);
  return `Checked the first ${rows}, ${percent} % of ${size}. The rest is checked during `
    + 'the import and may contain rows that will be rejected.';
}

function renderCommit(request: PageRequest, one: ProductImport, { isWhole }: Preview): Html {
  const { created, updated } = one.progress.counts;
  if (isWhole && created + updated === 0) {
    return html`<p><strong>Nothing to import:</strong> no products would be created or
      updated.</p>`;
  }
  return postForm(request, request.link(`/import/${one.id}/commit`), html`
    <input type="hidden" name="revision" value="${one.revision}">
    <button>Import now</button>`);
}

const MEMBERS = ['name', 'category', 'price', 'stock'] as const;

function renderDifferences(format: Format, differences: readonly Difference[]): Html {
  const rows = differences.flatMap(({ before, after, line }) => {
    const [from, to] = [before, after].map((product) => readMembers(format, product));
    return MEMBERS.filter((member) => from?.[member] !== to?.[member]).map((member) => [
      limit(after.sku), format.number(line), member,
      html`<del>${limit(from?.[member])}</del>`,
      html`<ins>${limit(to?.[member])}</ins>`,
    ]);
  }).slice(0, DIFFERENCES_SHOWN);
  return html`<h2>First changes</h2>${table({
    caption: 'First products that would be updated',
    columns: ['SKU', numeric('Line'), 'Field', 'Current', 'New'],
    rows, empty: undefined,
  })}`;
}

function readMembers(format: Format, { name, category, priceMinor, stock }: NewProduct) {
  return { name, category, price: format.money(priceMinor), stock: format.number(stock) };
}

function renderRefused(format: Format, { refused }: Preview): Html {
  return html`<h2>First rejected rows</h2>
    <p>After the import you can download all rejected rows, to correct and re-import them.</p>
    ${table({
    caption: 'First rows that would be rejected',
    columns: [numeric('Line'), 'SKU', 'Reason'],
    rows: refused.map(({ line, sku, reason }) =>
      [format.number(line), limit(sku),
        shorten(reason, PREVIEW_REASON_BYTES)]),
    empty: undefined,
  })}`;
}

/** The whole of a page has a bound, whatever is in the file. */
function limit(text = '–'): string {
  return shorten(text, PREVIEW_TEXT_BYTES);
}
