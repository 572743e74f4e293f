/**
 * The list of a shop's API keys, the page of one key with its actions, and "Paste a key to find
 * it", which identifies a key by its hash. The pasted key is in the body of a POST, so it appears
 * in no URL and no log; it is not in the response, not stored, and not kept in drafts.
 */
import {
  API_KEY_CHARACTERS, type ApiKey, hashApiKey, listKeyLike, maskApiKey, parseApiKey,
} from '../../../domain/access/api-key.ts';
import type { KeyId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { type Field, postForm, renderFields } from '../forms/fields.ts';
import { Form, type FormState, initialState, nonceField } from '../forms/form.ts';
import { countList, readNewestFirst, renderPager } from '../forms/paging.ts';
import { overlapField } from '../forms/typed-values.ts';
import { alert, card, facts, flashNotice, table } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { KEYS_SEARCHED_LIMIT, PASTED_KEY_LIMIT_CHARACTERS, PORTAL_PAGE_ROWS } from '../limits.ts';
import type { PageRequest, Portal, Show, Submit } from '../route.ts';
import { formatId, getKey, isActive, KEY_FACTS, pathOf, readKeyContext } from './key-facts.ts';

const DONE = new Map([
  ['revoked', 'Key revoked. It no longer works.'], ['found', 'This is the key you pasted.'],
]);
/** Address ranges in the list; the key's page shows all. */
const RANGES_SHOWN = 2;

/** GET /portal/keys: 200, 400 */
export const showKeys: Show = async (request, portal) => {
  const { account: { sellerId }, link } = request;
  const { store } = portal;
  const errors = new Map<string, string>();
  const page = await readNewestFirst<ApiKey, KeyId>(request, portal, errors, {
    scope: `keys ${sellerId}`, limit: PORTAL_PAGE_ROWS, keyOf: ({ id }) => id,
    read: ({ before, after, limit }) =>
      store.listKeys(sellerId, { after: after ?? before, limit }, after === undefined),
  });
  const total = await countList(page, async () => {
    const query = { after: undefined, limit: KEYS_SEARCHED_LIMIT + 1 };
    const { length } = await store.listKeys(sellerId, query);
    return { count: Math.min(length, KEYS_SEARCHED_LIMIT), isExact: length < query.limit };
  });
  const keys = page.rows;
  const context = await readKeyContext(request, portal, RANGES_SHOWN);
  return renderPage(request, portal, {
    title: 'API keys',
    status: errors.size > 0 ? 400 : 200,
    content: html`${flashNotice(request, DONE)}
      ${errors.size > 0 && alert('bad', html`<p>${errors.get('cursor')}</p>`)}
      <p>Give each program that calls the API its own key, so you can see what it does and revoke it
        on its own.</p>
      <p class="row middle"><a class="button primary" href="${link('/keys/new')}">Create key</a>
        <a href="${link('/leaked')}">Was a key leaked?</a></p>
      ${table({
    caption: 'API keys',
    columns: ['Key', ...KEY_FACTS.map(([label]) => label)],
    rows: keys.map((key) => [
      html`<a href="${link(pathOf(key))}">${key.name}</a><br>
        <code class="quiet small">${maskApiKey(key)}</code>`,
      ...KEY_FACTS.map(([, render]) => render(key, context)),
    ]),
    empty: html`<p>No API keys yet. <a href="${link('/keys/new')}">Create a key</a> to call the
      API.</p>`,
  })}
      ${renderPager(request, { path: '/keys', noun: 'keys', page, total })}
      ${keys.length > 0 && card('find', 'Find a key', renderFindForm(request, '/keys/find'))}`,
  });
};

/** GET /portal/keys/{key_id}: 200, 404 */
export const showKey: Show = async (request, portal) => {
  const key = await getKey(request, portal);
  const { link } = request;
  const context = await readKeyContext(request, portal);
  return renderPage(request, portal, {
    title: `API key: ${key.name}`,
    content: html`${flashNotice(request, DONE)}
    <div class="card">${facts([
      ['Key', html`<code>${maskApiKey(key)}</code>`],
      ['ID', html`<code>${formatId(key)}</code>`],
      ...KEY_FACTS.map(([label, render]) => [label, render(key, context)] as const),
      key.revokedAt !== undefined && ['Revoked', context.format.timeElement(key.revokedAt)],
    ])}</div>
    ${isActive(key, context.now) ? renderActions(request, key)
    : html`<p>This key no longer works. <a href="${link('/keys/new')}">Create a new key</a>.</p>`}
    <p><a href="${link('/keys')}">All API keys</a></p>`,
  });
};

function renderActions(request: PageRequest, key: ApiKey): Html {
  const path = request.link(pathOf(key));
  return html`<div class="columns">
    ${card('rotate', 'Rotate', html`<p>Creates a new key with the same permissions and
      limits. The old key keeps working for the time you choose, so you can replace it in your
      programs.</p>
      ${postForm(request, `${path}/rotate`, html`${nonceField()}
        ${renderFields([overlapField('Keep the old key valid for')])}
        <button>Rotate key</button>`)}`)}
    ${card('revoke', 'Revoke', html`<p>Requests with this key are rejected immediately. This cannot
      be undone. If the key was leaked, <a href="${request.link(`/leaked/${formatId(key)}`)}">see
      what it did</a>.</p>
      <p><a class="button danger" href="${path}/revoke">Revoke key</a></p>`)}
  </div>`;
}

export const FIND_FIELDS: readonly Field[] = [{
  name: 'key', label: 'Paste a key to find it', maxLength: PASTED_KEY_LIMIT_CHARACTERS,
  hint: 'The key, or a line that contains it. It is not stored and not logged.',
}];

/** GET /portal/keys/find: 200 */
export async function showFindKey(
  request: PageRequest, portal: Portal, state: FormState = initialState(),
): Promise<Reply> {
  return renderPage(request, portal, {
    title: 'Find an API key',
    state, fields: FIND_FIELDS,
    content: html`<div class="card">${renderFindForm(request, '/keys/find', state)}</div>
      <p><a href="${request.link('/keys')}">All API keys</a></p>`,
  });
}

/** POST /portal/keys/find: 303, 422 */
export const findKey: Submit = async (request, portal, form) => {
  const outcome = await identifyKey(request, portal, form);
  return 'key' in outcome ? redirect(request.link(`${pathOf(outcome.key)}?done=found`))
    : showFindKey(request, portal, outcome);
};

/** The form, without what was pasted. @param action Below `/portal`. */
export function renderFindForm(
  request: PageRequest, action: string, state: FormState = initialState(),
): Html {
  return postForm(request, request.link(action), html`${renderFields(FIND_FIELDS, state)}
    <button>Find key</button>`);
}

/** The shop's key that was pasted, also if it no longer works; or why it was not found. */
export async function identifyKey(
  { account: { sellerId } }: PageRequest, { store }: Portal, form: Form,
): Promise<{ readonly key: ApiKey } | FormState> {
  const text = form.get('key').slice(0, PASTED_KEY_LIMIT_CHARACTERS);
  const candidates = listKeyLike(text);
  const secret = candidates.map(parseApiKey).find((candidate) => candidate !== undefined);
  const key = secret && await store.findKeyByHash(sellerId, hashApiKey(secret));
  if (key) return { key };
  // Without the value: a page never shows a key that somebody pasted.
  const errors = new Map([['key', describeMiss(text.trim(), candidates)]]);
  return { form: new Form(), errors, detail: 'The key was not found:' };
}

/** Says nothing about keys of other shops. */
function describeMiss(text: string, candidates: readonly string[]): string {
  if (text === '') return 'Paste an API key.';
  // What may be the name of a variable is shorter than the key.
  const pasted = candidates.find((candidate) => parseApiKey(candidate) !== undefined)
    ?? candidates.toSorted((one, other) => other.length - one.length)[0];
  if (pasted === undefined) {
    return `This is not an API key of this server: keys start with spk_ and have ${
      API_KEY_CHARACTERS} characters.`;
  }
  if (pasted.length !== API_KEY_CHARACTERS) {
    return `This key has ${pasted.length} characters instead of ${
      API_KEY_CHARACTERS}. Copy all of it.`;
  }
  return parseApiKey(pasted) === undefined
    ? 'This key has a typo: its checksum is wrong. Copy it again.'
    : 'This key does not belong to your shop. It may belong to another shop or server.';
}
