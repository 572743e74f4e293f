/**
 * The search of the portal: products, keys, imports and pages that match a text, and what features
 * add. A key that somebody pastes here is looked up by its hash, and is not shown.
 */
import { API_KEY_CHARACTERS, listKeyLike } from '../../../domain/access/api-key.ts';
import { lineValidator } from '../../../domain/validation.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { Form } from '../forms/form.ts';
import { alert } from '../html/elements.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { identifyKey } from '../keys/keys.ts';
import { pathOf as keyPathOf } from '../keys/key-facts.ts';
import { SEARCH_GROUP_ROWS, SEARCH_KIND_ROWS, SEARCH_LIMIT_CODE_POINTS } from '../limits.ts';
import {
  type Finder, hasPage, type PageRequest, type Portal, type SearchResult, type Show,
} from '../route.ts';
import { importFinder, keyFinder, productFinder } from './find-matches.ts';
import { findPages, type FoundPage } from './page-index.ts';

interface Group {
  readonly id: string;
  readonly title: string;
  readonly results: readonly SearchResult[];
  /** The page with all of them; undefined if this is all. */
  readonly all?: string | undefined;
  /** Instead of results. */
  readonly note?: string | undefined;
}

const NAME_BYTES = 200;
const query = lineValidator(SEARCH_LIMIT_CODE_POINTS);

/** GET /portal/search: 200, 303, 400 */
export const showSearch: Show = async (request, portal) => {
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
  const finders = [
    productFinder, keyFinder, ...portal.additions.flatMap(({ finder }) => finder ?? []),
    importFinder,
  ];
  // An id first: it may also be the SKU of a product.
  const [exactResults, groups] = await Promise.all([
    Promise.all(finders.toReversed().map((finder) => finder.findNamed(request, portal, q))),
    findGroups(request, portal, finders, q),
  ]);
  const exact = exactResults.find((result) => result !== undefined);
  const archived = html`<p><a href="${request.link('/products',
    new URLSearchParams({ q, archived: 'true' }))}">Search archived products</a></p>`;
  const shownGroups = groups.filter(({ results, note }) =>
    results.length > 0 || note !== undefined);
  return renderSearch(request, portal, {
    q,
    content: html`${exact && renderGroup(request, {
      id: 'exact', title: 'Exact match', results: [exact],
    })}
      ${shownGroups.map((group) => renderGroup(request, group))}
      ${!exact && shownGroups.length === 0 && html`<div class="empty">
        <p>Nothing matches “${q}”.</p>${archived}</div>${renderTips()}`}
      ${(exact !== undefined || shownGroups.length > 0) && archived}`,
  });
};

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
  const outcome = request.may('owner') ? await identifyKey(request, portal, new Form({ key: q }))
    : { errors: new Map([['key', 'Only owners see API keys.']]) };
  if ('key' in outcome) return redirect(request.link(`${keyPathOf(outcome.key)}?done=found`));
  const content = alert('low', html`<p>${outcome.errors.get('key')}</p>
    <p>Do not search for whole keys: what you search for is in your browser's history.
      <a href="${request.link('/keys/find')}">Find a key</a> without that.</p>`);
  // Links on the page repeat its query.
  return renderSearch({ ...request, query: new Form() }, portal, { content });
}

/** The results of each kind, or with `?in=` more of one kind. */
async function findGroups(
  request: PageRequest, portal: Portal, finders: readonly Finder[], q: string,
): Promise<readonly Group[]> {
  const { link } = request;
  const only = request.query.get('in');
  const isKnown = only === 'pages' || finders.some(({ id }) => id === only);
  const limit = only === '' ? SEARCH_GROUP_ROWS : SEARCH_KIND_ROWS;
  const groups = await Promise.all(finders.filter(({ id }) => !isKnown || id === only)
    .map(async (finder): Promise<Group> => {
      const { id, title, listPath } = finder;
      const { items: results, hasMore, note } = await finder.find(request, portal, q, limit);
      const all = !hasMore ? undefined
        : listPath !== undefined ? link(listPath, new URLSearchParams({ q }))
        : only === '' ? link('/search', new URLSearchParams({ q, in: id })) : undefined;
      return { id, title, results, all, note };
    }));
  return isKnown && only !== 'pages' ? groups : [...groups, findPageGroup(request, portal, q)];
}

function findPageGroup(request: PageRequest, portal: Portal, q: string): Group {
  const mayShow = ({ path }: FoundPage): boolean => {
    if (!hasPage(portal, path)) return false;
    const { route } = portal.router.find('GET', path);
    return !('role' in route) || request.may(route.role);
  };
  const results = findPages(portal.sections, q).filter(mayShow)
    .map(({ path, title }): SearchResult => [path, title, undefined]);
  return { id: 'pages', title: 'Pages', results };
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
