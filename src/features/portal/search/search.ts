/**
 * The search of the portal: products, keys, imports and pages that match a text, and what features
 * add. A key that somebody pastes here is looked up by its hash, and is not shown.
 */
import {
  type ApiKey, API_KEY_CHARACTERS, listKeyLike, maskApiKey,
} from '../../../domain/access/api-key.ts';
import type { ImportRecord } from '../../../domain/catalogue/import.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { lineValidator } from '../../../domain/validation.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { Form } from '../forms/form.ts';
import { alert } from '../html/elements.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { identifyKey } from '../keys/keys.ts';
import { pathOf as keyPathOf } from '../keys/key-facts.ts';
import {
  SEARCH_GROUP_ROWS, SEARCH_KIND_ROWS, SEARCH_LIMIT_CODE_POINTS,
} from '../limits.ts';
import { archivedTag } from '../products/product-view.ts';
import { pathOf as productPathOf } from '../products/product-path.ts';
import { nameOf as importNameOf, pathOf as importPathOf } from '../records/import-record.ts';
import {
  hasPage, type Matches, type PageRequest, type Portal, type SearchResult,
} from '../route.ts';
import { findImports, findKeys, findNamed, findProducts, type Named } from './find-matches.ts';
import { findPages, type FoundPage } from './page-index.ts';

interface Group {
  readonly id: string;
  readonly title: string;
  readonly results: readonly SearchResult[];
  /** The page with all of them; undefined if this is all. */
  readonly all?: string | undefined;
  /** Instead of results. */
  readonly note?: string;
}

const NAME_BYTES = 200;
const query = lineValidator(SEARCH_LIMIT_CODE_POINTS);

/** GET /portal/search: 200, 303, 400 */
export async function showSearch(request: PageRequest, portal: Portal): Promise<Reply> {
  const q = request.query.get('q').trim();
  if (listKeyLike(q).some(({ length }) => length >= API_KEY_CHARACTERS)) {
    return findPasted(request, portal, q);
  }
  if (q === '') return renderSearch(request, portal, { content: renderTips() });
  const parsed = query.parse(q);
  if ('error' in parsed) {
    const content = html`${alert('bad', html`<p>${parsed.error.detail}</p>`)}${renderTips()}`;
    return renderSearch(request, portal, { content, status: 400 });
  }
  const only = request.query.get('in');
  const [named, added, groups] = await Promise.all([
    findNamed(request, portal, q),
    Promise.all(portal.additions.map(({ finder }) => finder?.findNamed(request, portal, q))),
    findGroups(request, portal, q, only),
  ]);
  const [exact] = [...added, ...listNamed(request, named)].filter((one) => one !== undefined);
  const archived = html`<p><a href="${request.link('/products',
    new URLSearchParams({ q, archived: 'true' }))}">Search archived products</a></p>`;
  const shown = groups.filter(({ results, note }) => results.length > 0 || note !== undefined);
  return renderSearch(request, portal, {
    q,
    content: html`${exact && renderGroup(request, {
      id: 'exact', title: 'Exact match', results: [exact],
    })}
      ${shown.map((group) => renderGroup(request, group))}
      ${!exact && shown.length === 0 && html`<div class="empty">
        <p>Nothing matches “${q}”.</p>${archived}</div>${renderTips()}`}
      ${(exact !== undefined || shown.length > 0) && archived}`,
  });
}

function renderSearch(
  request: PageRequest, portal: Portal,
  { q, content, status = 200 }: { readonly q?: string; content: Content; status?: number },
): Reply {
  return renderPage(request, portal, {
    title: q === undefined ? 'Search' : `Search: ${q}`, search: q, status, content,
  });
}

/** The address of this page is no place for a key: its page has another one. */
async function findPasted(request: PageRequest, portal: Portal, q: string): Promise<Reply> {
  const found = request.may('owner') ? await identifyKey(request, portal, new Form({ key: q }))
    : { errors: new Map([['key', 'Only owners see API keys.']]) };
  if ('key' in found) return redirect(request.link(`${keyPathOf(found.key)}?done=found`));
  const content = alert('low', html`<p>${found.errors.get('key')}</p>
    <p>Do not search for whole keys: what you search for is in your browser's history.
      <a href="${request.link('/keys/find')}">Find a key</a> without that.</p>`);
  // Links on the page repeat its query.
  return renderSearch({ ...request, query: new Form() }, portal, { content });
}

/** @param only The id of the only group to list, with more results; empty for all. */
async function findGroups(
  request: PageRequest, portal: Portal, q: string, only: string,
): Promise<readonly Group[]> {
  const { account: { sellerId }, link } = request;
  const limit = only === '' ? SEARCH_GROUP_ROWS : SEARCH_KIND_ROWS;
  const allOf = (id: string, { hasMore }: Matches<unknown>): string | undefined =>
    hasMore && only === '' ? link('/search', new URLSearchParams({ q, in: id })) : undefined;
  const finders: Readonly<Record<string, () => Promise<Group>>> = {
    products: async () => {
      const found = await findProducts(request, portal, q, limit);
      const group = { id: 'products', title: 'Products' };
      const note = 'Products are being indexed after a large change. Search again in a moment.';
      if (!found) return { ...group, results: [], note };
      const all = found.hasMore ? link('/products', new URLSearchParams({ q })) : undefined;
      return { ...group, results: found.items.map((one) => toProduct(request, one)), all };
    },
    keys: async () => {
      const found = await findKeys(request, portal, q, limit);
      const results = found.items.map(toKey);
      return { id: 'keys', title: 'API keys', results, all: allOf('keys', found) };
    },
    ...Object.fromEntries(portal.additions.flatMap(({ finder }) => finder
      ? [[finder.id, async () => {
        const { id, title } = finder;
        const found = await finder.find(request, portal, q, limit);
        return { id, title, results: found.items, all: allOf(id, found) };
      }]] : [])),
    imports: async () => {
      const found = await findImports(portal, sellerId, q, limit);
      const results = found.items.map((record) => toImport(request, record));
      return { id: 'imports', title: 'Imports', results, all: allOf('imports', found) };
    },
    pages: async () => {
      const mayShow = ({ path }: FoundPage): boolean => {
        if (!hasPage(portal, path)) return false;
        const { route } = portal.router.find('GET', path);
        return !('role' in route) || request.may(route.role);
      };
      const results = findPages(portal.sections, q).filter(mayShow).map(toPage);
      return { id: 'pages', title: 'Pages', results };
    },
  };
  const one = Object.hasOwn(finders, only) ? finders[only] : undefined;
  return Promise.all((one ? [one] : Object.values(finders)).map((find) => find()));
}

function listNamed(
  request: PageRequest, { product, key, record }: Named,
): readonly SearchResult[] {
  return [
    ...product ? [toProduct(request, product)] : [], ...key ? [toKey(key)] : [],
    ...record ? [toImport(request, record)] : [],
  ];
}

function toProduct({ format }: PageRequest, product: Product): SearchResult {
  const { name, sku, stock, priceMinor, archived } = product;
  return [productPathOf(product), name, html`<code>${sku}</code> · ${format.number(stock)} in stock
    · ${format.money(priceMinor)}${archived === true && html` ${archivedTag(product)}`}`];
}

function toKey(key: ApiKey): SearchResult {
  return [keyPathOf(key), key.name, html`<code>${maskApiKey(key)}</code>${
    key.revokedAt !== undefined && ' · revoked'}`];
}

function toImport({ format }: PageRequest, record: ImportRecord): SearchResult {
  return [importPathOf(record), importNameOf(record), format.timeElement(record.startedAt)];
}

function toPage({ path, title }: FoundPage): SearchResult {
  return [path, title, undefined];
}

function renderGroup({ link }: PageRequest, { id, title, results, all, note }: Group): Html {
  return html`<section class="results" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
    ${note !== undefined && html`<p>${note}</p>`}
    ${results.length > 0 && html`<ul>${results.map(([path, name, detail]) => html`
      <li><a href="${link(path)}"><bdi>${shorten(name, NAME_BYTES)}</bdi></a>
        ${detail !== undefined && html`<span class="small quiet">${detail}</span>`}</li>`)}</ul>`}
    ${all !== undefined && html`<p><a href="${all}">Show all ${title}</a></p>`}
  </section>`;
}

function renderTips(): Html {
  return html`<h2>What you can search for</h2>
    <ul>
      <li>Products: parts of words from the name, SKU and category, in any order, such as
        <q>blue hood</q>. SKUs also without their punctuation: <q>hoodblue</q> finds
        <code>HOOD-BLUE</code>.</li>
      <li>For owners, API keys: the name, or the last four characters of the key, such as
        <code>spk_…a1B2</code>.</li>
      <li>For owners, webhooks by URL and description; imports by file name and source.</li>
      <li>IDs: <code>prd_</code>, <code>key_</code>, <code>whk_</code> and <code>imp_</code>.</li>
      <li>Pages of this portal, such as <q>password</q> or <q>2fa</q>.</li>
    </ul>
    <p class="row middle">Press <kbd>/</kbd> on any page to search.
      <button type="button" class="small" id="search-key" hidden>Turn this key off</button></p>`;
}
