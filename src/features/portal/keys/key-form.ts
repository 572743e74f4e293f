/**
 * Creating, rotating and revoking API keys. The response to the form shows a new key once, with
 * commands that are ready to run, so the key appears in no URL and is not stored. Submitting the
 * form again creates no second key.
 */
import type { Account } from '../../../domain/access/account.ts';
import {
  type ApiKey, type ApiKeySecret, generateApiKey, type NewApiKey, parseNewApiKey, type StoredSecret,
  toStoredSecret,
} from '../../../domain/access/api-key.ts';
import { type Scope, SCOPES } from '../../../domain/access/caller.ts';
import { undefinedIf } from '../../../domain/error.ts';
import {
  DURATION_LIMIT_MS, KEY_ADDRESS_RANGES_LIMIT, KEY_NAME_LIMIT_CODE_POINTS,
} from '../../../domain/limits.ts';
import { findDuration } from '../../../domain/time.ts';
import { invalid, type ParseResult } from '../../../domain/validation.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Field } from '../forms/fields.ts';
import { defineFormPage } from '../forms/form-page.ts';
import { type Form, nonceField, readNonce, takeValue } from '../forms/form.ts';
import { findEndOfDay, parseTypedWhole, readOverlap } from '../forms/typed-values.ts';
import { findRoute, formatCurl } from '../html/curl.ts';
import { card, copyable } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { AnonymousPageRequest, PageRequest, Portal, Submit } from '../route.ts';
import { getKey, pathOf, renderLastUse } from './key-facts.ts';

const SCOPE_LABELS: Readonly<Record<Scope, string>> = {
  'products:read': 'Read products and stock',
  'products:write': 'Create, import, edit and delete products, and change their stock',
  'prices:write': 'Change prices only',
  'stock:write': 'Change stock only',
  'changes:read': 'Read and follow the change history and the stock ledger',
  'webhooks:write': 'Read, create, edit and delete webhooks',
};
const ON_DAY = 'day';
const ON_DAY_LABEL = 'On a date (below)';
const FIELDS: readonly Field[] = [
  {
    name: 'name', label: 'Name', isRequired: true, maxLength: KEY_NAME_LIMIT_CODE_POINTS,
    hint: 'Describes what the key is for, such as "Cash desk".',
  },
  {
    name: 'scopes', label: 'Permissions', control: 'checkboxes',
    choices: SCOPES.map((scope) => ({ value: scope, label: `${SCOPE_LABELS[scope]} (${scope})` })),
  },
  {
    name: 'expires', label: 'Expires', control: 'select', choices: [
      { value: '', label: 'Never' },
      { value: '30d', label: 'In 30 days' },
      { value: '90d', label: 'In 90 days' },
      { value: '365d', label: 'In a year' },
      { value: ON_DAY, label: ON_DAY_LABEL },
    ],
  },
  {
    name: 'day', label: 'Last day', type: 'date',
    hint: 'If the key expires on a date: it works until the end of this day in your time zone.',
  },
  {
    name: 'allow', label: 'Allowed addresses', control: 'textarea', rows: 3,
    hint: `IP addresses or CIDR ranges, one per line, up to ${KEY_ADDRESS_RANGES_LIMIT}: `
      + '192.0.2.7, 192.0.2.0/24, 2001:db8::/32. Leave empty to allow any address.',
  },
  {
    name: 'rateLimitPerMinute', label: 'Requests per minute', inputMode: 'numeric',
    hint: 'A lower limit than that of other keys. Leave empty for the server\'s limit.',
  },
];

/** GET /portal/keys/new: 200. POST: 200, 400, 409, 422 */
export const keyForm = defineFormPage<NewApiKey>({
  fields: FIELDS,
  page: () => ({
    title: 'Create API key', cancel: '/keys', submit: 'Create key', hidden: nonceField(),
  }),
  read(form, errors, { account }, { clock, rateLimitPerMinute: serverRateLimit }) {
    const expiresAt = takeValue(errors, 'day', parseExpiry(form, account, clock()), undefined);
    const scopes = form.getAll('scopes');
    if (scopes.length === 0) errors.set('scopes', 'Select at least one permission.');
    const addressRanges = form.get('allow').split('\n').map((line) => line.trim()).filter(Boolean);
    const rate = form.getTrimmed('rateLimitPerMinute');
    const rateLimitPerMinute = rate === '' ? undefined
      : takeValue(errors, 'rateLimitPerMinute', parseTypedWhole(rate), undefined);
    const name = form.getTrimmed('name');
    return parseNewApiKey(
      { name, scopes, addressRanges, expiresAt, rateLimitPerMinute }, serverRateLimit,
    );
  },
  async save(key, request, portal, { form }) {
    const { account: { sellerId }, by } = request;
    const idempotency = readNonce(form);
    return renderCreated(request, portal, key.scopes, (secret) =>
      portal.store.createKey(sellerId, secret, key, { ...by, idempotency }));
  },
});

/** POST /portal/keys/{key_id}/rotate: 200, 400, 404, 409 */
export const rotateKey: Submit = async (request, portal, form) => {
  const { sellerId, id, scopes } = await getKey(request, portal);
  const overlapMs = readOverlap(form);
  const context = { ...request.by, idempotency: readNonce(form) };
  return renderCreated(request, portal, scopes, (secret) =>
    portal.store.rotateKey({ sellerId, keyId: id }, secret, overlapMs, context));
};

/** GET /portal/keys/{key_id}/revoke: 200, 404. POST: 303, 404 */
export const revocationForm = defineFormPage({
  fields: [],
  find: getKey,
  page: ({ subject: key, format }) => ({
    title: `Revoke API key: ${key.name}`, cancel: pathOf(key), submit: 'Revoke key',
    isDestructive: true,
    before: html`
      <p>Programs that use this key lose access immediately. This cannot be undone.</p>
      <p>Last used: ${renderLastUse(format, key)}.</p>`,
  }),
  async save(_, { subject: { sellerId, id }, by, link }, { store }) {
    await store.revokeKey({ sellerId, keyId: id }, by);
    return redirect(link('/keys?done=revoked'));
  },
});

/** Creates a key and shows its secret; a form submitted again gets 409 and no secret. */
export async function renderCreated(
  request: PageRequest, portal: Portal, scopes: readonly Scope[],
  create: (secret: StoredSecret) => Promise<ApiKey>, note?: Content,
): Promise<Reply> {
  const back = html`<p><a class="button" href="${request.link('/keys')}">All API keys</a></p>`;
  const secret = generateApiKey();
  const key = await undefinedIf('idempotency_mismatch', create(toStoredSecret(secret)));
  return renderPage(request, portal, key ? {
    title: `API key created: ${key.name}`,
    content: html`${renderNewKey(request, portal, secret, scopes)}${note}${back}`,
  } : {
    title: 'API key already created',
    status: 409,
    content: html`<p>You already submitted this form, so no second key was created. The key was
      shown once. If you didn't copy it, revoke it and create another.</p>${back}`,
  });
}

/** Undefined for a key that never expires. */
function parseExpiry(
  form: Form, { timeZone }: Account, now: number,
): ParseResult<number | undefined> {
  const [expires, day] = [form.get('expires'), form.getTrimmed('day')];
  const fail = (detail: string) => invalid('range', detail);
  if (expires !== ON_DAY) {
    if (day !== '') return fail(`Choose "${ON_DAY_LABEL}" above, or clear this field.`);
    const lifeMs = findDuration(expires);
    return { value: lifeMs === undefined ? undefined : now + lifeMs };
  }
  const end = findEndOfDay(day, timeZone);
  if (end === undefined) return fail('Enter the last day the key works.');
  if (end <= now) return fail('Must not be in the past.');
  return end - now <= DURATION_LIMIT_MS ? { value: end } : fail('Must be within ten years.');
}

const EXAMPLES_SHOWN = 2;
/** Example operations, one per scope. */
const EXAMPLES = [
  'createProduct', 'listProducts', 'patchProductBySku', 'syncStock', 'listChanges', 'listWebhooks',
];

export function renderNewKey(
  { base }: Pick<AnonymousPageRequest, 'base'>, portal: Portal, secret: ApiKeySecret,
  scopes: readonly Scope[] = SCOPES,
): Html {
  const examples = EXAMPLES.flatMap((id) => findRoute(portal, id) ?? [])
    .filter((route) => route.scopes?.some((scope) => scopes.includes(scope)));
  const values = new Map(portal.description.pathParameters.map(({ name, example }) =>
    [name, example]));
  return card('new-key', 'Your API key', html`<p>Copy it now. You won't see it again.</p>
    ${copyable('key', secret)}
    ${examples.slice(0, EXAMPLES_SHOWN).map((route) => html`<p>${route.operation.summary}:</p>
      ${copyable(route.operation.id, formatCurl(route, base.url, secret, values))}`)}`);
}
