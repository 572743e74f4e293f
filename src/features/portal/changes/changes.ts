/** What happened to the catalogue: every change in words, the newest first, page by page. */
import { type Change, CHANGE_TYPES } from '../../../domain/catalogue/change.ts';
import { parseProductId, type ProductId } from '../../../domain/id.ts';
import { findSku } from '../../../domain/catalogue/product.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { MovementFilter, MovementPage } from '../../../store/history-store.ts';
import { CHANGE_TYPE_CHOICES } from '../html/change-types.ts';
import { describeChange } from './change-description.ts';
import { errorSummary, selectField, textField } from '../forms/fields.ts';
import type { FieldErrors } from '../forms/form.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { readKeyNames } from '../keys/key-names.ts';
import { KEY_NAME_BYTES, PORTAL_PAGE_ROWS } from '../limits.ts';
import { numeric, pager, type Row, table } from '../html/elements.ts';
import { renderPage } from '../html/page.ts';
import { pathOf } from '../products/product-path.ts';
import type { Portal, PageRequest } from '../route.ts';
import { findWholeNumber } from '../forms/typed-values.ts';

const LABELS = { type: 'Type', product: 'Product', up_to: 'Position' };
const LEFT_OUT = 'These filters are not valid and were ignored:';
const SKU_BYTES = 100;

/** GET /portal/changes: 200, 400 */
export async function showChanges(request: PageRequest, portal: Portal): Promise<Reply> {
  const { store } = portal;
  const { sellerId } = request.account;
  const asked = readFeed(request);
  const page = await store.listMovements(sellerId, {
    filter: asked.filter, after: 0, upTo: asked.upTo ?? Number.MAX_SAFE_INTEGER,
    isDescending: true, limit: PORTAL_PAGE_ROWS,
  });
  const { movements, next } = page;
  const edited = movements.filter(({ type }) => type === 'updated');
  const shown: Shown = {
    names: await readKeyNames(store, sellerId, movements.map(({ keyId }) => keyId)),
    before: await store.findPreviousSnapshots(
      sellerId, edited.map(({ position }) => position),
    ),
    there: await findThere(request, portal, movements),
  };
  return renderPage(request, portal, {
    title: 'Changes',
    status: asked.errors.size === 0 ? 200 : 400,
    content: html`${asked.errors.size > 0 && errorSummary(asked.errors, LEFT_OUT, LABELS)}
      ${renderFilter(request, asked)}
      ${table({
    caption: 'Changes, newest first',
    columns: ['Change', 'Product', 'When', 'By', numeric('Position')],
    rows: movements.map((change) => renderRow(request, change, shown)),
    empty: renderEmpty(request, asked, page),
  })}
      ${movements.length > 0 && next === undefined && renderEnd(request, page)}
      ${pager('Pages of changes', asked.upTo === undefined ? undefined : linkTo(request, asked),
    next === undefined ? undefined : linkTo(request, asked, next))}`,
  });
}

/** What the address asks for. */
interface Feed {
  /** The parameters that narrow it, as they were typed. */
  readonly typed: ReadonlyMap<string, string>;
  readonly filter: MovementFilter;
  /** Undefined for the newest. */
  readonly upTo: number | undefined;
  readonly errors: FieldErrors;
}

function readFeed({ query, account: { sellerId } }: PageRequest): Feed {
  const errors = new Map<string, string>();
  const read = (name: string): string => query.get(name)?.trim() ?? '';
  const [type, product, position] = [read('type'), read('product'), read('up_to')];
  const types = CHANGE_TYPES.filter((known) => type === '' || known === type);
  if (types.length === 0) errors.set('type', 'There is no such type of change.');
  const productId = parseProductId(sellerId, product);
  const sku = productId === undefined ? findSku(product) : undefined;
  if (product !== '' && productId === undefined && sku === undefined) {
    errors.set('product', 'Must be a SKU or a product ID.');
  }
  const upTo = findWholeNumber(position) || undefined;
  if (position !== '' && upTo === undefined) {
    errors.set('up_to', 'Must be a whole number, 1 or more.');
  }
  const typed = Object.entries({ type, product, up_to: position })
    .filter(([, value]) => value !== '');
  return {
    typed: new Map(typed),
    filter: { types: types.length === 0 ? CHANGE_TYPES : types, productId, sku },
    upTo,
    errors,
  };
}

/** The same conditions from a position on; the newest where none is named. */
function linkTo({ link }: PageRequest, { typed }: Feed, upTo?: number): string {
  const query = new URLSearchParams([...typed].filter(([name]) => name !== 'up_to'));
  if (upTo !== undefined) query.set('up_to', String(upTo));
  return link(query.size === 0 ? '/changes' : `/changes?${query}`);
}

/** What is looked up for the rows of a page. */
interface Shown {
  readonly names: Awaited<ReturnType<typeof readKeyNames>>;
  readonly before: ReadonlyMap<number, string>;
  /** The products that are still there. */
  readonly there: ReadonlySet<ProductId>;
}

async function findThere(
  { account: { sellerId } }: PageRequest, { store }: Portal, changes: readonly Change[],
): Promise<ReadonlySet<ProductId>> {
  const ids = [...new Set(changes.map(({ productId }) => productId))];
  const found = await Promise.all(ids.map((id) => store.findProduct(sellerId, { id })));
  return new Set(found.flatMap((product) => product?.id ?? []));
}

function renderFilter({ link }: PageRequest, { typed, errors }: Feed): Html {
  const value = (name: string): string => typed.get(name) ?? '';
  return html`<form method="get" action="${link('/changes')}" class="card row filters" novalidate>
    ${selectField({
    name: 'type', label: LABELS.type, value: value('type'), errors,
    choices: [{ value: '', label: 'All changes' }, ...CHANGE_TYPE_CHOICES],
  })}
    ${textField({
    name: 'product', label: LABELS.product, value: value('product'), errors,
    hint: 'SKU or product ID',
  })}
    ${textField({
    name: 'up_to', label: LABELS.up_to, value: value('up_to'), errors, inputMode: 'numeric',
    hint: 'Show changes up to this position',
  })}
    <div class="actions"><button>Show</button>
      ${typed.size > 0 && html`<a href="${link('/changes')}">Clear</a>`}</div>
  </form>`;
}

function renderRow(request: PageRequest, change: Change, { names, before, there }: Shown): Row {
  const { account: { currency }, format, link } = request;
  const { sellerId, position, at, productId, sku, keyId } = change;
  const shown = html`<code>${shorten(sku, SKU_BYTES)}</code>`;
  const href = link(pathOf({ sellerId, id: productId }));
  return [
    describeChange({ format, currency }, change, before.get(position)),
    there.has(productId) ? html`<a href="${href}">${shown}</a>` : shown,
    format.timeElement(at),
    html`<bdi>${shorten(names.get(keyId) ?? '', KEY_NAME_BYTES)}</bdi>`,
    format.number(position),
  ];
}

function renderEmpty(request: PageRequest, asked: Feed, page: MovementPage): Html {
  const { link } = request;
  if (page.next !== undefined) {
    return html`<p>No matches so far. The next page searches further back.</p>`;
  }
  const end = renderEnd(request, page);
  if (asked.typed.size > 0) {
    return html`<p>No changes match. <a href="${link('/changes')}">Show all changes</a></p>${end}`;
  }
  if (end) return end;
  return html`<h2>No changes yet</h2>
    <p class="row middle centre">
      <a class="button main" href="${link('/products/new')}">Create a product</a>
      <a class="button" href="${link('/import')}">Import a file</a></p>`;
}

/** Where the history ends, if that is not where it began. */
function renderEnd({ format }: PageRequest, { prunedTo }: MovementPage): Html | undefined {
  if (prunedTo === 0) return undefined;
  return html`<p class="quiet">The history begins after position ${format.number(prunedTo)}. Older
    changes were removed at the end of their retention period.</p>`;
}
