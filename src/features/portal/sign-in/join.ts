/**
 * Registration, linked from the server's first start and from invitations. One mutation creates
 * the shop, its account, a first API key and a session. The response shows the key, once, in a
 * command that is ready to run. People who join an existing shop get no key.
 */
import { parseEmail, parseTimeZone } from '../../../domain/access/account.ts';
import { generateApiKey, hashApiKey, lastFourOf } from '../../../domain/access/api-key.ts';
import { SCOPES } from '../../../domain/access/caller.ts';
import { hashCode } from '../../../domain/access/human-code.ts';
import { findCurrency } from '../../../domain/catalogue/currency.ts';
import { NAME_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import { lineValidator } from '../../../domain/validation.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Choice, Field } from '../forms/fields.ts';
import { renderFormPage } from '../forms/form-page.ts';
import { type Form, type FormState, hiddenField, initialState, takeValue } from '../forms/form.ts';
import { readLocale } from '../html/browser.ts';
import { html } from '../html/html.ts';
import { redirect, renderPublicPage } from '../html/page.ts';
import { renderNewKey } from '../keys/new-key.ts';
import type { AnonymousPageRequest, Portal } from '../route.ts';
import { rememberDevice } from './device.ts';
import { newPasswordField, parsePasswordField } from './password-fields.ts';
import { formatSessionToken, startSession } from './session.ts';

const KEY_NAME = 'My first key';
const BAD_CODE = 'This code is invalid, expired or already used.';
const TAKEN_EMAIL = 'This e-mail already has an account. Sign in, or use a different e-mail.';

/** GET /portal/join: 200, 303 */
export async function showJoin(request: AnonymousPageRequest, portal: Portal): Promise<Reply> {
  if (request.user) return redirect(request.link('/'));
  const shop = request.query.get('shop') === 'existing' ? 'existing' : '';
  return renderJoin(request, portal, initialState({ currency: 'EUR', shop }));
}

/** POST /portal/join: 200, 303, 422, 429, 503 */
export async function join(
  request: AnonymousPageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { store, passwords, limits } = portal;
  const codeHash = hashCode(form.get('code'));
  const needsCode = !portal.isRegistrationOpen || form.getTrimmed('code') !== '';
  const invitation = codeHash === undefined ? undefined : await store.findInvitation(codeHash);
  const errors = new Map<string, string>();
  const { seller, email, password } =
    readFields(form, errors, invitation?.sellerId !== undefined);
  if (needsCode && !invitation) errors.set('code', BAD_CODE);
  if (errors.size > 0) return renderJoin(request, portal, { form, errors });

  if (!needsCode) await limits.takeRegistration(request.address);
  const secret = generateApiKey();
  const passwordHash = await passwords.hash(password);
  const { session, secret: sessionSecret } =
    startSession(request.address, request.headers['user-agent']);
  const joined = await store.register({
    codeHash: needsCode ? codeHash : undefined,
    seller,
    account: {
      email,
      passwordHash,
      locale: readLocale(request.headers['accept-language']),
      timeZone: readTimeZone(form),
    },
    key: {
      name: KEY_NAME, scopes: SCOPES, addressRanges: [], expiresAt: undefined,
      hash: hashApiKey(secret), lastFour: lastFourOf(secret),
    },
    session,
  });
  if (joined.rejection !== undefined) {
    const detail = joined.rejection === 'code' ? BAD_CODE : TAKEN_EMAIL;
    return renderJoin(request, portal, { form, errors: new Map([[joined.rejection, detail]]) });
  }
  const { cookie } = formatSessionToken(joined.sellerId, sessionSecret);
  const device = await rememberDevice(request, portal, { ...joined, passwordHash });
  if (!joined.key) return redirect(request.link('/'), [cookie, ...device]);
  return renderPublicPage(request, portal, {
    title: 'Your shop is ready',
    content: html`${renderNewKey(request, portal, secret)}
      <p><a class="button primary" href="${request.link('/')}">Go to your shop</a></p>`,
    cookies: [cookie, ...device],
  });
}

/** Adds an error for each invalid value. An existing seller keeps name and currency. */
function readFields(form: Form, errors: Map<string, string>, isExisting: boolean) {
  const currency = findCurrency(form.get('currency')) ?? { code: 'EUR', decimals: 2 };
  const parsedName = lineValidator(NAME_LIMIT_CODE_POINTS).parse(form.getTrimmed('name'));
  const name = isExisting ? '' : takeValue(errors, 'name', parsedName, '');
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
  const shop = state.form.get('shop');
  const isExisting = shop === 'existing';
  return renderFormPage(request, portal, {
    title: isExisting ? 'Join your shop' : 'Create your shop', action: '/join',
    submit: isExisting ? 'Join' : 'Create shop',
    fields: declareFields(portal, isExisting),
    hidden: html`${hiddenField('time_zone', '')}${hiddenField('shop', shop)}`,
    after: html`<p>Already have an account? <a href="${request.link('/sign-in')}">Sign in</a>.</p>`,
    scripts: ['join.js'],
  }, state);
}

function declareFields({ isRegistrationOpen }: Portal, isExisting: boolean): readonly Field[] {
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
    {
      name: 'code', label: isRegistrationOpen ? 'Invitation code (optional)' : 'Invitation code',
      isRequired: !isRegistrationOpen, autocomplete: 'one-time-code',
      hint: 'XXXX-XXXX-XXXX-XXXX, from the server\'s terminal or from your invitation.',
    },
    ...isExisting ? [] : shop,
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
