/**
 * The account page: settings, links to the pages for security, and the forms for e-mail, password
 * and shop. The server sends no mail. A new password signs out all other browsers and gives this
 * one a new session token. The shop's settings are the same for everyone who signs in.
 */
import {
  type AccountSettings, parseEmail, parseLocale, parseLowStock, parseTimeZone,
} from '../../../domain/access/account.ts';
import { EMAIL_LIMIT_CHARACTERS } from '../../../domain/limits.ts';
import { type Field, postForm, renderFields } from '../forms/fields.ts';
import { defineForm, defineFormPage } from '../forms/form-page.ts';
import { takeValue } from '../forms/form.ts';
import { card, facts, flashNotice } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { ROLE_LABELS } from '../people/roles.ts';
import type { PageRequest, Portal } from '../route.ts';
import { rememberDevice } from '../sign-in/device.ts';
import {
  CURRENT_PASSWORD, newPasswordField, parsePasswordField,
} from '../sign-in/password-fields.ts';
import { passwordClient } from '../sign-in/rate-limits.ts';
import { formatSessionToken, makeSessionSecret } from '../sign-in/session.ts';
import { listSessions, offerToEndSessions } from './sessions.ts';

const DONE = new Map([
  ['settings', 'Settings saved.'],
  ['shop', 'Shop settings saved.'],
  ['name', 'Name changed.'],
  ['email', 'E-mail changed. Use the new one the next time you sign in.'],
  ['password', 'Password changed. All other browsers are signed out.'],
  ['off', 'Two-factor authentication is off.'],
]);

const LOCALES = [
  'da-DK', 'de-AT', 'de-CH', 'de-DE', 'en-AU', 'en-CA', 'en-GB', 'en-IE', 'en-IN', 'en-US',
  'es-ES', 'es-MX', 'fi-FI', 'fr-CA', 'fr-CH', 'fr-FR', 'it-CH', 'it-IT', 'ja-JP', 'ko-KR',
  'nb-NO', 'nl-BE', 'nl-NL', 'pl-PL', 'pt-BR', 'pt-PT', 'sv-SE', 'tr-TR', 'zh-CN',
];

const FIELDS: readonly Field[] = [
  {
    name: 'locale', label: 'Language and region', suggestions: LOCALES, isRequired: true,
    maxLength: 35,
  },
  {
    name: 'time_zone', label: 'Time zone', isRequired: true, maxLength: 64,
    suggestions: [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])],
  },
];

/** GET /portal/account: 200. POST: 303, 422 */
export const settingsForm = defineForm<AccountSettings>({
  fields: FIELDS,
  async render(request, portal, state) {
    return renderPage(request, portal, {
      title: 'Account',
      state, fields: FIELDS,
      content: html`${state.errors.size === 0 && flashNotice(
        request, DONE, request.query.get('done') === 'off' && offerToEndSessions(request),
      )}
        ${card('security', 'Sign-in and security', await renderSecurity(request, portal))}
        ${card('settings', 'Settings', postForm(request, request.link('/account'), html`
          ${renderFields(completeFields(request, portal), state)}
          <button class="primary">Save settings</button>`))}
        ${card('shop', 'Shop', renderShop(request))}`,
    });
  },
  initial: ({ account: { locale, timeZone } }) => ({ locale, time_zone: timeZone }),
  read: (form, errors) => ({
    locale: takeValue(errors, 'locale', parseLocale(form.getTrimmed('locale')), ''),
    timeZone: takeValue(errors, 'time_zone', parseTimeZone(form.getTrimmed('time_zone')), ''),
  }),
  async save(settings, { account, by, link }, { store }) {
    await store.setAccountSettings(account, settings, by);
    return redirect(link('/account?done=settings'));
  },
});

async function renderSecurity(
  { account, link, format }: PageRequest, portal: Portal,
): Promise<Html> {
  const { email, hasTotp, passkeys, isPasswordOff } = account;
  const [name = '', host = ''] = email.split('@');
  const { length: count } = await listSessions(portal, account);
  const row = (value: Content, path: string, label: string): Content =>
    html`${value}<br><a href="${link(`/account/${path}`)}">${label}</a>`;
  return facts([
    ['Name', row(html`<bdi>${account.name}</bdi>, ${ROLE_LABELS[account.role]}`, 'name',
      'Change name')],
    ['E-mail', row(html`${name}@<wbr>${host}`, 'email', 'Change e-mail')],
    ['Password', row(
      isPasswordOff ? 'Off: for confirmations only' : '••••••••', 'password', 'Change password',
    )],
    ['Passkeys', row(
      passkeys === 0 ? 'None' : format.number(passkeys), 'passkeys',
      passkeys === 0 ? 'Set up passkeys' : 'Manage passkeys',
    )],
    ['Two-factor authentication', row(
      html`<span class="tag${hasTotp && ' good'}">${hasTotp ? 'On' : 'Off'}</span>`, 'two-factor',
      hasTotp ? 'Manage two-factor authentication' : 'Turn on two-factor authentication',
    )],
    ['Sessions', row(
      `${format.number(count)} ${count === 1 ? 'browser' : 'browsers'}`, 'sessions',
      'View sessions',
    )],
  ]);
}

function renderShop({ account: { lowStock }, link, format, may }: PageRequest): Html {
  return facts([
    ['Low-stock threshold', html`${format.number(lowStock)}${may('editor') && html`<br>
      <a href="${link('/account/shop')}">Change the threshold</a>`}`],
  ]);
}

/** Adds an example of the account's formats. */
function completeFields({ format }: PageRequest, { clock }: Portal): readonly Field[] {
  const hint = html`Format of numbers, prices and times. Example: ${format.money(1_234_567)},
    ${format.time(clock())}`;
  return FIELDS.map((field) => field.name === 'locale' ? { ...field, hint } : field);
}

/** GET /portal/account/email: 200. POST: 303, 422, 429, 503 */
export const emailForm = defineFormPage({
  fields: [
    {
      name: 'email', label: 'New e-mail', type: 'email', autocomplete: 'email', isRequired: true,
      maxLength: EMAIL_LIMIT_CHARACTERS,
    },
    CURRENT_PASSWORD,
  ],
  page: ({ account: { email } }) => ({
    title: 'Change e-mail', cancel: '/account', submit: 'Change e-mail',
    before: html`<p>Current e-mail: <strong>${email}</strong></p>`,
  }),
  read: (form, errors) => takeValue(errors, 'email', parseEmail(form.get('email')), ''),
  async save(email, { account, by, link }, { store }, { errors }) {
    const isSaved = await store.setEmail(account, email, by);
    if (isSaved) return redirect(link('/account?done=email'));
    errors.set('email', 'Another account already uses this e-mail.');
    return undefined;
  },
});

/** GET /portal/account/password: 200. POST: 303, 422, 429, 503 */
export const passwordForm = defineFormPage({
  fields: [CURRENT_PASSWORD, newPasswordField('new_password', 'New password')],
  page: ({ account: { email } }) => ({
    title: 'Change password', cancel: '/account', submit: 'Change password',
    before: html`<p>Changing your password signs out all your other browsers.</p>`,
    // For password managers.
    hidden: html`<input type="text" name="username" value="${email}"
      autocomplete="username" hidden>`,
  }),
  read(form, errors, { account: { sellerName, email } }) {
    const parsed = parsePasswordField(form, 'new_password', sellerName, email);
    return takeValue(errors, 'new_password', parsed, '');
  },
  async save(password, request, portal) {
    const { account, user, by } = request;
    const client = passwordClient(account, request.disconnectSignal());
    const passwordHash = await portal.passwords.hash(password, client);
    const { hash, secret } = makeSessionSecret();
    await portal.store.setPassword(account, passwordHash, { id: user.session.id, hash }, by);
    const { cookie } = formatSessionToken(account.sellerId, secret);
    const device = await rememberDevice(request, portal, { ...account, passwordHash });
    return redirect(request.link('/account?done=password'), [cookie, ...device]);
  },
});

/** GET /portal/account/shop: 200. POST: 303, 422 */
export const shopForm = defineFormPage({
  fields: [{
    name: 'low_stock', label: 'Low-stock threshold', inputMode: 'numeric', isRequired: true,
    maxLength: 10, hint: 'Products at or below this stock are marked as low.',
  }],
  page: () => ({ title: 'Shop settings', cancel: '/account', submit: 'Save settings' }),
  initial: ({ account: { lowStock } }) => ({ low_stock: String(lowStock) }),
  read: (form, errors) =>
    takeValue(errors, 'low_stock', parseLowStock(form.get('low_stock')), 0),
  async save(lowStock, { account: { sellerId }, by, link }, { store }) {
    await store.setShopSettings(sellerId, { lowStock }, by);
    return redirect(link('/account?done=shop'));
  },
});
