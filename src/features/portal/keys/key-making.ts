/**
 * Making an API key. The answer to the form itself shows the key, this once, so that it stands in
 * no address and in nothing that is kept; sent again, the same form makes no second key.
 */
import type { Account } from '../../../domain/access/account.ts';
import {
  type ApiKey, type ApiKeySecret, generateApiKey, hashApiKey, type NewApiKey, parseNewApiKey,
} from '../../../domain/access/api-key.ts';
import { type Scope, SCOPES } from '../../../domain/access/caller.ts';
import { findDuration } from '../../../domain/time.ts';
import { AppError } from '../../../domain/error.ts';
import {
  DURATION_LIMIT_MS, KEY_ADDRESS_RANGES_LIMIT, KEY_NAME_LIMIT_CODE_POINTS,
} from '../../../domain/limits.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import type { Reply } from '../../../http/response/reply.ts';
import {
  checkboxes, type Choice, errorSummary, postForm, selectField, textArea, textField,
} from '../forms/fields.ts';
import {
  type FieldErrors, fieldErrorsFrom, Form, isDuplicateSubmission, NO_ERRORS, nonceField, readNonce,
} from '../forms/form.ts';
import { findEndOfDay, readOverlap } from '../forms/typed-values.ts';
import { html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, PageRequest, Portal } from '../route.ts';
import { getKey, pathOf, renderUse } from './keys.ts';
import { renderNewKey } from './new-key.ts';

const MEANINGS: Readonly<Record<Scope, string>> = {
  'products:read': 'Read products and stock',
  'products:write': 'Create, import, change and delete products, and change their stock',
  'stock:write': 'Change the stock of products, and nothing else',
  'changes:read': 'Read and follow the changes of the catalogue, and the ledger of stock',
  'webhooks:write': 'Read, make, change and delete webhooks',
};
const LABELS = {
  name: 'Name', scopes: 'It may', expires: 'It expires', day: 'Last day',
  allow: 'It may be used from',
};
const ON_DAY = 'day';
const EXPIRIES: readonly Choice[] = [
  { value: '', label: 'Never' },
  { value: '30d', label: 'In 30 days' },
  { value: '90d', label: 'In 90 days' },
  { value: '365d', label: 'In a year' },
  { value: ON_DAY, label: 'At the end of the day below' },
];

/** GET /portal/keys/new: 200 */
export async function showKeyForm(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderForm(request, portal, new Form(), NO_ERRORS);
}

/** POST /portal/keys/new: 200, 400, 409, 422 */
export async function createKey(request: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const read = readKey(form, request.account, portal.clock());
  if ('errors' in read) return renderForm(request, portal, form, read.errors);
  const secret = generateApiKey();
  const { key } = read;
  const idempotency = readNonce(form);
  try {
    return await renderMadeKey(request, portal, { secret, scopes: key.scopes }, () =>
      portal.store.createKey(
        request.account.sellerId, hashApiKey(secret), key,
        { address: request.address, idempotency },
      ));
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'limit_reached')) throw error;
    return renderForm(request, portal, form, NO_ERRORS, error.publicDetail);
  }
}

export const keyDraft: DraftRoute = {
  fields: ['name', 'scopes', 'expires', 'day', 'allow'],
  show: async (request, portal, form) => renderForm(request, portal, form, NO_ERRORS),
};

/** Makes a key and shows its secret; or says that this was done before. */
async function renderMadeKey(
  request: PageRequest, portal: Portal,
  { secret, scopes }: { readonly secret: ApiKeySecret; readonly scopes: readonly Scope[] },
  make: () => Promise<ApiKey>,
): Promise<Reply> {
  const back = html`<p><a class="button" href="${request.link('/keys')}">All keys</a></p>`;
  try {
    const { name } = await make();
    return renderPage(request, portal, {
      title: `New key: ${name}`, content: html`${renderNewKey(request, secret, scopes)}${back}`,
    });
  } catch (error) {
    if (!isDuplicateSubmission(error)) throw error;
    return renderPage(request, portal, {
      title: 'This key was made already',
      status: 409,
      content: html`<p>It was shown once, and no second one was made. If you have not got it, revoke
        it and make another.</p>${back}`,
    });
  }
}

function readKey(
  form: Form, account: Account, now: number,
): { readonly key: NewApiKey } | { readonly errors: FieldErrors } {
  const expiry = parseExpiry(form, account, now);
  const errors = new Map<string, string>();
  const scopes = form.getAll('scopes');
  try {
    const key = parseNewApiKey({
      name: form.getTrimmed('name'),
      scopes,
      addressRanges: form.get('allow').split('\n').map((line) => line.trim()).filter(Boolean),
      expiresAt: 'value' in expiry ? expiry.value : undefined,
    });
    if (scopes.length > 0 && 'value' in expiry) return { key };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    for (const [name, fault] of fieldErrorsFrom(error.issues)) errors.set(name, fault);
  }
  if (scopes.length === 0) errors.set('scopes', 'Tick at least one thing that the key may do.');
  if ('error' in expiry) errors.set('day', expiry.error.detail);
  return { errors };
}

/** Undefined for a key that never expires. */
function parseExpiry(
  form: Form, { timeZone }: Account, now: number,
): ParseResult<number | undefined> {
  const [expires, day] = [form.get('expires'), form.getTrimmed('day')];
  const fail = (detail: string) => ({ error: { code: 'range', detail } as const });
  if (expires !== ON_DAY) {
    if (day !== '') return fail('Is not heeded: choose that the key expires on it, or clear it.');
    const lifeMs = findDuration(expires);
    return { value: lifeMs === undefined ? undefined : now + lifeMs };
  }
  const end = findEndOfDay(day, timeZone);
  if (end === undefined) return fail('Give the last day on which the key may be used.');
  if (end <= now) return fail('Must not be over.');
  return end - now <= DURATION_LIMIT_MS ? { value: end } : fail('Must be within ten years.');
}

function renderForm(
  request: PageRequest, portal: Portal, form: Form, errors: FieldErrors, refusal?: string,
): Reply {
  return renderPage(request, portal, {
    title: 'New API key',
    status: refusal !== undefined ? 409 : errors.size > 0 ? 422 : 200,
    content: html`${errorSummary(errors, refusal, LABELS)}
      ${postForm(request, request.link('/keys/new'), renderFields(form, errors), 'card stack')}
      <p><a href="${request.link('/keys')}">All keys</a></p>`,
  });
}

function renderFields(form: Form, errors: FieldErrors): Html {
  return html`${nonceField()}
    ${textField({
    name: 'name', label: LABELS.name, value: form.get('name'), errors, isRequired: true,
    maxLength: KEY_NAME_LIMIT_CODE_POINTS, hint: 'What the key is for, such as: cash desk',
  })}
    ${checkboxes({
    name: 'scopes', label: LABELS.scopes, errors, values: form.getAll('scopes'),
    choices: SCOPES.map((scope) => ({ value: scope, label: `${MEANINGS[scope]} (${scope})` })),
  })}
    ${selectField({
    name: 'expires', label: LABELS.expires, value: form.get('expires'), choices: EXPIRIES,
  })}
    ${textField({
    name: 'day', label: LABELS.day, type: 'date', value: form.get('day'), errors,
    hint: 'Only for a key that expires at the end of a day: in your time zone.',
  })}
    ${textArea({
    name: 'allow', label: LABELS.allow, value: form.get('allow'), errors, rows: 3,
    hint: `Addresses or CIDR ranges, each on a line of its own, up to ${KEY_ADDRESS_RANGES_LIMIT}: `
      + '192.0.2.7, 192.0.2.0/24, 2001:db8::/32. Empty: from anywhere.',
  })}
    <button>Make the key</button>`;
}

/** POST /portal/keys/{key_id}/rotate: 200, 400, 404, 409 */
export async function rotateKey(request: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const { sellerId, id, scopes } = await getKey(request, portal);
  const overlapMs = readOverlap(form);
  const idempotency = readNonce(form);
  const secret = generateApiKey();
  return renderMadeKey(request, portal, { secret, scopes }, () => portal.store.rotateKey(
    { sellerId, keyId: id }, hashApiKey(secret), overlapMs,
    { address: request.address, idempotency },
  ));
}

/** GET /portal/keys/{key_id}/revoke: 200, 404 */
export async function showRevocation(request: PageRequest, portal: Portal): Promise<Reply> {
  const key = await getKey(request, portal);
  const { link } = request;
  return renderPage(request, portal, {
    title: `Revoke the key: ${key.name}`,
    content: html`<p>Every program that uses it is refused from then on. This cannot be undone.</p>
      <p>Its last use: ${renderUse(request, key)}.</p>
      <div class="actions">
        ${postForm(request, link(`${pathOf(key)}/revoke`), html`
          <button class="danger">Revoke this key</button>`)}
        <a class="button" href="${link(pathOf(key))}">Keep it</a>
      </div>`,
  });
}

/** POST /portal/keys/{key_id}/revoke: 303, 404 */
export async function revokeKey(request: PageRequest, portal: Portal): Promise<Reply> {
  const { sellerId, id } = await getKey(request, portal);
  await portal.store.revokeKey({ sellerId, keyId: id }, request.address);
  return redirect(request.link('/keys?done=revoked'));
}
