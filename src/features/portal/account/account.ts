/** The account: how the portal is read, and the ways to what guards the sign-in. */
import {
  type AccountSettings, parseLocale, parseLowStock, parseTimeZone,
} from '../../../domain/access/account.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { SESSIONS_PER_SELLER_LIMIT } from '../../../store/limits.ts';
import { errorSummary, postForm, textField } from '../forms/fields.ts';
import { type FieldErrors, Form, NO_ERRORS } from '../forms/form.ts';
import { facts, flashNotice } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, PageRequest, Portal } from '../route.ts';
import { isAlive } from '../sign-in/session.ts';

const DONE = new Map([
  ['settings', 'Your settings are saved.'],
  ['email', 'Your e-mail is changed: sign in with the new one from now on.'],
  ['password', 'Your password is changed, and all other browsers are signed out.'],
  ['off', 'Signing in takes your password alone now.'],
]);

const LABELS = {
  locale: 'Language and country', time_zone: 'Time zone', low_stock: 'Low stock',
};

const LOCALES = [
  'da-DK', 'de-AT', 'de-CH', 'de-DE', 'en-AU', 'en-CA', 'en-GB', 'en-IE', 'en-IN', 'en-US',
  'es-ES', 'es-MX', 'fi-FI', 'fr-CA', 'fr-CH', 'fr-FR', 'it-CH', 'it-IT', 'ja-JP', 'ko-KR',
  'nb-NO', 'nl-BE', 'nl-NL', 'pl-PL', 'pt-BR', 'pt-PT', 'sv-SE', 'tr-TR', 'zh-CN',
];

/** GET /portal/account: 200 */
export async function showAccount(request: PageRequest, portal: Portal): Promise<Reply> {
  const { locale, timeZone, lowStock } = request.account;
  const saved = new Form(new URLSearchParams({
    locale, time_zone: timeZone, low_stock: String(lowStock),
  }));
  return renderAccount(request, portal, saved, NO_ERRORS);
}

/** POST /portal/account: 303, 422 */
export async function changeSettings(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { settings, errors } = readSettings(form);
  if (errors.size > 0) return renderAccount(request, portal, form, errors);
  await portal.store.setAccountSettings(request.account.sellerId, settings, request.address);
  return redirect(request.link('/account?done=settings'));
}

export const settingsDraft: DraftRoute = {
  fields: ['locale', 'time_zone', 'low_stock'],
  show: (request, portal, form) => renderAccount(request, portal, form, NO_ERRORS),
};

interface ReadSettings {
  readonly settings: AccountSettings;
  readonly errors: FieldErrors;
}

/** What is faulty stands in `faults`. */
function readSettings(form: Form): ReadSettings {
  const errors = new Map<string, string>();
  const read = <Value>(name: string, parsed: ParseResult<Value>, empty: Value): Value => {
    if ('value' in parsed) return parsed.value;
    errors.set(name, parsed.error.detail);
    return empty;
  };
  const settings = {
    locale: read('locale', parseLocale(form.getTrimmed('locale')), ''),
    timeZone: read('time_zone', parseTimeZone(form.getTrimmed('time_zone')), ''),
    lowStock: read('low_stock', parseLowStock(form.get('low_stock')), 0),
  };
  return { settings, errors };
}

async function renderAccount(
  request: PageRequest, portal: Portal, form: Form, errors: FieldErrors,
): Promise<Reply> {
  return renderPage(request, portal, {
    title: 'Account',
    status: errors.size === 0 ? 200 : 422,
    content: html`${errors.size === 0 && flashNotice(request, DONE)}
      ${errorSummary(errors, undefined, LABELS)}
      <section class="card" aria-labelledby="signing-in">
        <h2 id="signing-in">Signing in</h2>
        ${await renderSignIn(request, portal)}
      </section>
      <section class="card" aria-labelledby="settings">
        <h2 id="settings">Settings</h2>
        ${postForm(
    request, request.link('/account'), renderSettings(request, portal, form, errors),
  )}
      </section>`,
  });
}

async function renderSignIn(
  { account, link, format }: PageRequest, { store, clock }: Portal,
): Promise<Html> {
  const { sellerId, email, hasTotp } = account;
  const [name = '', host = ''] = email.split('@');
  const sessions = await store.listSessions(sellerId, SESSIONS_PER_SELLER_LIMIT);
  const signedIn = sessions.filter((session) => isAlive(session, clock())).length;
  const way = (path: string, label: string): Content =>
    html`<br><a href="${link(path)}">${label}</a>`;
  return facts([
    ['E-mail', html`${name}@<wbr>${host}${way('/account/email', 'Change the e-mail')}`],
    ['Password', html`••••••••${way('/account/password', 'Change the password')}`],
    ['One-time codes', html`${hasTotp ? html`<span class="tag good">On</span>`
      : html`<span class="tag">Off</span>`}${
  way('/account/second-step', hasTotp ? 'Recovery codes, switch off' : 'Switch on')}`],
    ['Signed in', html`${format.number(signedIn)} ${signedIn === 1 ? 'browser' : 'browsers'}${
  way('/account/sessions', 'Show where')}`],
  ]);
}

function renderSettings(
  { format }: PageRequest, { clock }: Portal, form: Form, errors: FieldErrors,
): Html {
  return html`
    ${textField({
    name: 'locale', label: LABELS.locale, value: form.get('locale'), errors,
    suggestions: LOCALES, isRequired: true, maxLength: 35,
    hint: html`How numbers and times are written. Now: ${format.money(1_234_567)},
      ${format.time(clock())}`,
  })}
    ${textField({
    name: 'time_zone', label: LABELS.time_zone, value: form.get('time_zone'), errors,
    suggestions: listTimeZones(), isRequired: true, maxLength: 64,
  })}
    ${textField({
    name: 'low_stock', label: LABELS.low_stock, value: form.get('low_stock'), errors,
    inputMode: 'numeric', isRequired: true, maxLength: 10,
    hint: 'Products with this many pieces or fewer are shown as low.',
  })}
    <button>Save the settings</button>`;
}

let timeZones: readonly string[] | undefined;

function listTimeZones(): readonly string[] {
  timeZones ??= ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
  return timeZones;
}
