/**
 * Joining: the page to which the first start of a server leads, and an invitation. It takes the
 * code and makes, as one unit, the shop, its account, a first key, and a session; and it shows that
 * key, this once, in a line that works.
 */
import { parseEmail, parseTimeZone } from '../../../domain/access/account.ts';
import { generateApiKey, hashApiKey, parseNewApiKey } from '../../../domain/access/api-key.ts';
import { hashCode } from '../../../domain/access/human-code.ts';
import type { NewSeller } from '../../../domain/access/seller.ts';
import { findCurrency } from '../../../domain/catalogue/currency.ts';
import { NAME_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import { parseLine, type ParseResult } from '../../../domain/validation.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { type Choice, errorSummary, postForm, selectField, textField } from '../forms/fields.ts';
import { type FieldErrors, Form, NO_ERRORS } from '../forms/form.ts';
import { readLocale } from '../html/browser.ts';
import { html, type Html } from '../html/html.ts';
import { redirect, renderPublicPage } from '../html/page.ts';
import { renderNewKey } from '../keys/new-key.ts';
import type { AnonymousPageRequest, Portal } from '../route.ts';
import { rememberDevice } from './complete-sign-in.ts';
import { newPasswordField, readNewPassword } from './confirm-password.ts';
import { beginSession } from './session.ts';

const KEY_NAME = 'My first key';
const LABELS = {
  code: 'Code', name: 'Name of the shop', currency: 'Currency', email: 'E-mail',
  password: 'Password',
};
const BAD_CODE = 'This code is not valid (any more): each works once, and for some days.';
const TAKEN_EMAIL = 'This e-mail has an account here. Sign in, or take another one.';

/** GET /portal/join: 200, 303 */
export async function showJoin(request: AnonymousPageRequest, portal: Portal): Promise<Reply> {
  if (request.user) return redirect(request.link('/'));
  const shop = request.query.get('shop') === 'existing' ? 'existing' : '';
  const empty = new Form(new URLSearchParams({ currency: 'EUR', shop }));
  return renderJoin(request, portal, empty, NO_ERRORS);
}

/** POST /portal/join: 200, 422, 429, 503 */
export async function join(
  request: AnonymousPageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { store, passwords, limits } = portal;
  const codeHash = hashCode(form.get('code'));
  const needsCode = !portal.isOpen || form.getTrimmed('code') !== '';
  const invitation = codeHash === undefined ? undefined : await store.findInvitation(codeHash);
  const read = readFields(form, invitation?.sellerId !== undefined);
  if (needsCode && !invitation) read.errors.set('code', BAD_CODE);
  if (read.errors.size > 0) return renderJoin(request, portal, form, read.errors);

  if (!needsCode) limits.takeJoin(request.address);
  const secret = generateApiKey();
  const passwordHash = await passwords.hash(read.password);
  const { session, cookie } = beginSession(request.address, request.headers['user-agent']);
  const joined = await store.joinPortal({
    codeHash: needsCode ? codeHash : undefined,
    seller: read.seller,
    account: {
      email: read.email,
      passwordHash,
      locale: readLocale(request.headers['accept-language']),
      timeZone: readTimeZone(form),
    },
    key: {
      ...parseNewApiKey({
        name: KEY_NAME, scopes: [], addressRanges: [], expiresAt: undefined,
      }),
      hash: hashApiKey(secret),
    },
    session,
  });
  if (joined.refusal !== undefined) {
    const errors = new Map([joined.refusal === 'code' ? ['code', BAD_CODE] as const
      : ['email', TAKEN_EMAIL] as const]);
    return renderJoin(request, portal, form, errors);
  }
  const device = await rememberDevice(request, portal, { ...joined, passwordHash });
  return renderPublicPage(request, portal, {
    title: 'Your shop is open',
    content: html`${renderNewKey(request, secret)}
      <p><a class="button" href="${request.link('/')}">To your shop</a></p>`,
    scripts: ['portal.js'],
    cookies: [cookie, ...device],
  });
}

interface ReadFields {
  readonly seller: NewSeller;
  readonly email: string;
  readonly password: string;
  readonly errors: Map<string, string>;
}

/** What is faulty is empty, and stands in `faults`. */
function readFields(form: Form, isThere: boolean): ReadFields {
  const errors = new Map<string, string>();
  const read = (name: string, parsed: ParseResult<string>): string => {
    if ('value' in parsed) return parsed.value;
    errors.set(name, parsed.error.detail);
    return '';
  };
  const currency = findCurrency(form.get('currency')) ?? { code: 'EUR', decimals: 2 };
  const name = isThere
    ? '' : read('name', parseLine(form.getTrimmed('name'), NAME_LIMIT_CODE_POINTS));
  const email = read('email', parseEmail(form.get('email')));
  const password = read('password', readNewPassword(form, 'password', { shop: name, email }));
  return { seller: { name, currency }, email, password, errors };
}

/** What a script filled in; without one, that of the server. */
function readTimeZone(form: Form): string {
  const parsed = parseTimeZone(form.get('time_zone'));
  return 'value' in parsed ? parsed.value : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function renderJoin(
  request: AnonymousPageRequest, portal: Portal, form: Form, errors: FieldErrors,
): Reply {
  return renderPublicPage(request, portal, {
    title: 'Open your shop',
    status: errors.size === 0 ? 200 : 422,
    content: html`${errorSummary(errors, undefined, LABELS)}
      ${postForm(request, request.link('/join'), renderFields(portal, form, errors))}
      <p>You have an account? <a href="${request.link('/sign-in')}">Sign in</a>.</p>`,
    scripts: ['join.js'],
  });
}

function renderFields({ isOpen }: Portal, form: Form, errors: FieldErrors): Html {
  const isThere = form.get('shop') === 'existing';
  return html`
    <input type="hidden" name="time_zone" value="">
    <input type="hidden" name="shop" value="${form.get('shop')}">
    ${textField({
    name: 'code', label: isOpen ? `${LABELS.code} (if you were given one)` : LABELS.code, errors,
    value: form.get('code'), isRequired: !isOpen, autocomplete: 'one-time-code',
    hint: 'XXXX-XXXX-XXXX-XXXX, from the terminal of the server or from your invitation.',
  })}
    ${!isThere && textField({
    name: 'name', label: LABELS.name, value: form.get('name'), errors, isRequired: true,
    autocomplete: 'organization', maxLength: NAME_LIMIT_CODE_POINTS,
  })}
    ${!isThere && selectField({
    name: 'currency', label: LABELS.currency, value: form.get('currency'), errors,
    hint: 'Of all prices. It cannot be changed later.', choices: listCurrencies(),
  })}
    ${textField({
    name: 'email', label: LABELS.email, type: 'email', value: form.get('email'), errors,
    autocomplete: 'username', isRequired: true,
    hint: 'You sign in with it. Nothing is sent to it.',
  })}
    ${newPasswordField('password', LABELS.password, errors)}
    <button>Open the shop</button>`;
}

let currencies: readonly Choice[] | undefined;

function listCurrencies(): readonly Choice[] {
  const names = new Intl.DisplayNames('en', { type: 'currency' });
  currencies ??= Intl.supportedValuesOf('currency').filter((code) => findCurrency(code))
    .map((code) => ({ value: code, label: `${code} – ${names.of(code)}` }));
  return currencies;
}
