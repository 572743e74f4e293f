/**
 * Registration, linked from the server's first start and from invitations. One mutation creates
 * the shop, its account, a first API key and a session. The response shows the key, once, in a
 * command that is ready to run. People who join an existing shop get no key. A code decides which
 * of the two it is, so the page can ask for it first.
 */
import { parseEmail, parseTimeZone } from '../../../domain/access/account.ts';
import { generateApiKey, toStoredSecret } from '../../../domain/access/api-key.ts';
import { SCOPES } from '../../../domain/access/caller.ts';
import { hashCode } from '../../../domain/access/human-code.ts';
import { findCurrency } from '../../../domain/catalogue/currency.ts';
import { NAME_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import { lineValidator } from '../../../domain/validation.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Invitation, Registration } from '../../../store/account-store.ts';
import type { Choice, Field } from '../forms/fields.ts';
import { renderFormPage } from '../forms/form-page.ts';
import {
  type Form, type FormState, hiddenField, initialState, NO_ERRORS, takeValue,
} from '../forms/form.ts';
import { readLocale } from '../html/browser.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { renderNewKey } from '../keys/key-form.ts';
import type { AnonymousPageRequest, Portal, Show, Submit } from '../route.ts';
import { rememberDevice } from './device.ts';
import { newPasswordField, parsePasswordField } from './password-fields.ts';
import { strangerClient } from './rate-limits.ts';
import { formatSessionToken, startSession } from './session.ts';

const KEY_NAME = 'My first key';
const DEFAULT_CURRENCY = 'EUR';
const BAD_CODE = 'This code is invalid, expired or already used.';
const NEW_SHOP_CODE = 'This code opens a new shop. Enter its name and its currency.';
const TAKEN_EMAIL = 'This e-mail already has an account. Sign in, or use a different e-mail.';

/** What the page asks for: a new shop, an account of an existing one, or first the code. */
const PAGES = {
  '': { title: 'Create your shop', submit: 'Create shop' },
  existing: { title: 'Join your shop', submit: 'Join' },
  code: { title: 'Use your invitation code', submit: 'Continue' },
} as const;

/** GET /portal/join: 200, 303 */
export const showJoin: Show<AnonymousPageRequest> = async (request, portal) => {
  if (request.user) return redirect(request.link('/'));
  const shop = request.query.get('shop');
  return renderJoin(request, portal, initialState({ currency: DEFAULT_CURRENCY, shop }));
};

/** POST /portal/join: 200, 303, 422, 429, 503 */
export const join: Submit<AnonymousPageRequest> = async (request, portal, form) => {
  const { store } = portal;
  const page = readPage(form);
  const codeHash = hashCode(form.get('code'));
  const needsCode = page !== '' || !portal.isRegistrationOpen || form.getTrimmed('code') !== '';
  const invitation = codeHash === undefined ? undefined : await store.findInvitation(codeHash);
  if (page === 'code') return renderForCode(request, portal, form, invitation);
  if (page === 'existing' && invitation && invitation.sellerId === undefined) {
    return renderNewShop(request, portal, form, NEW_SHOP_CODE);
  }
  const errors = new Map<string, string>();
  const shop = await findShopName(store, invitation);
  const fields = readFields(form, errors, page === 'existing' ? shop ?? '' : shop);
  if (needsCode && !invitation) errors.set('code', BAD_CODE);
  if (errors.size > 0) return renderJoin(request, portal, { form, errors });
  return register(request, portal, form, {
    ...fields, codeHash: needsCode ? codeHash : undefined,
  });
};

/** Of the existing shop that the invitation is for. */
async function findShopName(
  store: Portal['store'], invitation: Invitation | undefined,
): Promise<string | undefined> {
  if (invitation?.sellerId === undefined) return undefined;
  return (await store.findSeller(invitation.sellerId))?.name;
}

/** The fields of a valid form. */
type JoinFields = ReturnType<typeof readFields> & Pick<Registration, 'codeHash'>;

/** Creates the account, with its shop and its first key, and signs in. */
async function register(
  request: AnonymousPageRequest, portal: Portal, form: Form,
  { codeHash, seller, email, password }: JoinFields,
): Promise<Reply> {
  const { store, passwords, limits } = portal;
  await limits.takeRegistration(request.address, codeHash);
  // Before the password is hashed, which is costly.
  if (await store.findCredentials(email)) return reject(request, portal, form, 'email');
  const secret = generateApiKey();
  const client = strangerClient(request.address, request.disconnectSignal());
  const passwordHash = await passwords.hash(password, codeHash === undefined ? client
    : { ...client, lane: `code ${codeHash}`, owner: `code ${codeHash}` });
  const { session, secret: sessionSecret } =
    startSession(request.address, request.headers['user-agent']);
  const joined = await store.register({
    codeHash,
    seller,
    account: {
      email,
      passwordHash,
      locale: readLocale(request.headers['accept-language']),
      timeZone: readTimeZone(form),
    },
    key: { name: KEY_NAME, scopes: SCOPES, addressRanges: [], expiresAt: undefined },
    secret: toStoredSecret(secret),
    session,
  });
  if (joined.rejection !== undefined) return reject(request, portal, form, joined.rejection);
  const { cookie } = formatSessionToken(joined.sellerId, sessionSecret);
  const device = await rememberDevice(request, portal, { ...joined, passwordHash });
  if (!joined.key) return redirect(request.link('/'), [cookie, ...device]);
  return renderPage(request, portal, {
    title: 'Your shop is ready',
    content: html`${renderNewKey(request, portal, secret)}
      <p><a class="button primary" href="${request.link('/')}">Go to your shop</a></p>`,
    cookies: [cookie, ...device],
  });
}

function reject(
  request: AnonymousPageRequest, portal: Portal, form: Form, field: 'code' | 'email',
): Reply {
  const errors = new Map([[field, field === 'code' ? BAD_CODE : TAKEN_EMAIL]]);
  return renderJoin(request, portal, { form, errors });
}

/** The page for this code: of a new shop, or of an existing one. */
function renderForCode(
  request: AnonymousPageRequest, portal: Portal, form: Form, invitation: Invitation | undefined,
): Reply {
  if (!invitation) return reject(request, portal, form, 'code');
  if (invitation.sellerId === undefined) return renderNewShop(request, portal, form);
  form.set('shop', 'existing');
  return renderJoin(request, portal, { form, errors: NO_ERRORS });
}

function renderNewShop(
  request: AnonymousPageRequest, portal: Portal, form: Form, detail?: string,
): Reply {
  form.set('shop', '');
  form.set('currency', DEFAULT_CURRENCY);
  return renderJoin(request, portal, { form, errors: NO_ERRORS, detail });
}

/**
 * Adds an error for each invalid value. An existing seller keeps name and currency.
 * @param existing The name of the existing seller; empty if the code does not say which.
 */
function readFields(form: Form, errors: Map<string, string>, existing: string | undefined) {
  const currency = findCurrency(form.get('currency')) ?? { code: DEFAULT_CURRENCY, decimals: 2 };
  const parsedName = lineValidator(NAME_LIMIT_CODE_POINTS).parse(form.getTrimmed('name'));
  const name = existing ?? takeValue(errors, 'name', parsedName, '');
  const email = takeValue(errors, 'email', parseEmail(form.get('email')), '');
  const parsedPassword = parsePasswordField(form, 'password', name, email);
  const password = takeValue(errors, 'password', parsedPassword, '');
  return { seller: { name, currency }, email, password };
}

/** The time zone that `join.js` filled in; without scripts, the server's. */
function readTimeZone(form: Form): string {
  const parsed = parseTimeZone(form.get('time_zone'));
  return 'value' in parsed ? parsed.value : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function renderJoin(request: AnonymousPageRequest, portal: Portal, state: FormState): Reply {
  const page = readPage(state.form);
  return renderFormPage(request, portal, {
    ...PAGES[page], action: '/join', fields: declareFields(portal, page),
    hidden: html`${hiddenField('time_zone', '')}${hiddenField('shop', page)}`,
    after: html`<p>Already have an account? <a href="${request.link('/sign-in')}">Sign in</a>.</p>`,
    scripts: ['join.js'],
  }, state);
}

function readPage(form: Form): keyof typeof PAGES {
  const shop = form.get('shop');
  return shop === 'existing' || shop === 'code' ? shop : '';
}

function declareFields({ isRegistrationOpen }: Portal, page: keyof typeof PAGES): readonly Field[] {
  const isOptional = isRegistrationOpen && page === '';
  const code: Field = {
    name: 'code', label: isOptional ? 'Invitation code (optional)' : 'Invitation code',
    isRequired: !isOptional, autocomplete: 'one-time-code',
    hint: 'XXXX-XXXX-XXXX-XXXX, from the server\'s terminal or from your invitation.',
  };
  if (page === 'code') return [code];
  const shop: readonly Field[] = [
    {
      name: 'name', label: 'Shop name', isRequired: true, autocomplete: 'organization',
      maxLength: NAME_LIMIT_CODE_POINTS,
    },
    {
      name: 'currency', label: 'Currency', control: 'select', choices: listCurrencies(),
      hint: 'Used for all prices. You cannot change it later.',
    },
  ];
  return [
    code,
    ...page === 'existing' ? [] : shop,
    {
      name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', isRequired: true,
      hint: 'For signing in. The server never sends mail.',
    },
    newPasswordField('password', 'Password'),
  ];
}

function listCurrencies(): readonly Choice[] {
  const names = new Intl.DisplayNames('en', { type: 'currency' });
  return Intl.supportedValuesOf('currency').filter((code) => findCurrency(code))
    .map((code) => ({ value: code, label: `${code} – ${names.of(code)}` }));
}
