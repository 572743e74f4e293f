/**
 * "Paste a key to find it": identifies an API key by its hash. The key is in the body of a POST, so
 * it appears in no URL and no log; it is not in the response, not stored, and not kept in drafts.
 */
import {
  type ApiKey, API_KEY_CHARACTERS, hashApiKey, listKeyLike, parseApiKey,
} from '../../../domain/access/api-key.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { errorSummary, type Field, postForm, renderFields } from '../forms/fields.ts';
import { statusOf } from '../forms/form-page.ts';
import { Form, type FormState, initialState } from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { PASTED_KEY_LIMIT_CHARACTERS } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';
import { pathOf } from './key-facts.ts';

const FIELDS: readonly Field[] = [{
  name: 'key', label: 'Paste a key to find it', maxLength: PASTED_KEY_LIMIT_CHARACTERS,
  hint: 'The key, or a line that contains it. It is not stored and not logged.',
}];

/** GET /portal/keys/find: 200 */
export async function showFindKey(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderFindPage(request, portal, initialState());
}

/** POST /portal/keys/find: 303, 422 */
export async function findKey(request: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const found = await identifyKey(request, portal, form);
  return 'key' in found ? redirect(request.link(`${pathOf(found.key)}?done=found`))
    : renderFindPage(request, portal, found);
}

/** The form, without what was pasted. @param action Below `/portal`. */
export function renderFindForm(
  request: PageRequest, action: string, state: FormState = initialState(),
): Html {
  return postForm(request, request.link(action), html`${renderFields(FIELDS, state)}
    <button>Find key</button>`);
}

export function renderFindErrors(state: FormState): Html {
  const detail = 'The key was not found:';
  return html`${state.errors.size > 0 && errorSummary({ ...state, detail }, FIELDS)}`;
}

/** The shop's key that was pasted, also if it no longer works; or why it was not found. */
export async function identifyKey(
  { account: { sellerId } }: PageRequest, { store }: Portal, form: Form,
): Promise<{ readonly key: ApiKey } | FormState> {
  const text = form.get('key').slice(0, PASTED_KEY_LIMIT_CHARACTERS);
  const found = listKeyLike(text);
  const secret = found.map(parseApiKey).find((one) => one !== undefined);
  const key = secret && await store.findKeyByHash(sellerId, hashApiKey(secret));
  if (key) return { key };
  // Without the value: a page never shows a key that somebody pasted.
  return { form: new Form(), errors: new Map([['key', describeMiss(text.trim(), found)]]) };
}

/** Says nothing about keys of other shops. */
function describeMiss(text: string, found: readonly string[]): string {
  if (text === '') return 'Paste an API key.';
  // What may be the name of a variable is shorter than the key.
  const pasted = found.find((one) => parseApiKey(one) !== undefined)
    ?? found.toSorted((one, other) => other.length - one.length)[0];
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

function renderFindPage(request: PageRequest, portal: Portal, state: FormState): Reply {
  return renderPage(request, portal, {
    title: 'Find an API key',
    status: statusOf(state),
    content: html`${renderFindErrors(state)}
      <div class="card">${renderFindForm(request, '/keys/find', state)}</div>
      <p><a href="${request.link('/keys')}">All API keys</a></p>`,
  });
}
