/**
 * Turning two-factor authentication on and off. Turning it on requires a correct code, so users
 * cannot lock themselves out. Until then the server does not store the new secret: the page carries
 * it, encrypted for its session. Recovery codes are shown only once, when they are generated.
 */
import { lacksTwoFactor } from '../../../domain/access/account.ts';
import { generateCode, hashCode, RECOVERY_CODE_LENGTH } from '../../../domain/access/human-code.ts';
import {
  findTotpStep, formatTotpSecret, formatTotpUri, generateTotpSecret, type TotpSecret,
} from '../../../domain/access/totp.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { type Field, postForm, renderFields } from '../forms/fields.ts';
import { defineForm } from '../forms/form-page.ts';
import { type FormState, hiddenField, initialState } from '../forms/form.ts';
import { alert, card, copyable, notice } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { qrCode } from '../html/qr-code/qr-code.ts';
import { NEW_TOTP_LIFE_MS, RECOVERY_CODES } from '../limits.ts';
import type { PageRequest, Portal, Show, Submit } from '../route.ts';
import { decryptValue, encryptValue } from '../sign-in/cookie.ts';
import { confirmPassword, CURRENT_PASSWORD, passkeyButton } from '../sign-in/password-fields.ts';
import { offerToEndSessions } from './sessions.ts';

const PAGE = '/account/two-factor';
const TITLE = 'Two-factor authentication';
const FIELDS: readonly Field[] = [
  {
    name: 'code', label: 'Code from the app', inputMode: 'numeric', autocomplete: 'one-time-code',
    isRequired: true, maxLength: 10,
  },
  CURRENT_PASSWORD,
];
const OFF_FIELDS = [{ ...CURRENT_PASSWORD, id: 'off-password' }];

/** GET /portal/account/two-factor: 200 */
export const showTwoFactor: Show = async (request, portal) => {
  return request.account.hasTotp ? renderOn(request, portal, initialState())
    : renderOff(request, portal, generateTotpSecret(), initialState());
};

/** POST /portal/account/two-factor: 200, 303, 422, 429, 503 */
export const enableTwoFactor: Submit = async (request, portal, form) => {
  const { account, by } = request;
  const { store, clock } = portal;
  const setup = await decryptValue<{ readonly secret: TotpSecret }>(
    portal, form.get('secret'), contextOf(request),
  );
  const totp = await store.findTotp(account);
  // A form sent twice gets codes both times: the browser shows the last response only.
  if (!setup || (totp && totp.secret !== setup.secret)) {
    return redirect(request.link(`${PAGE}?done=${totp ? 'already' : 'late'}`));
  }
  const { secret } = setup;
  const errors = new Map<string, string>();
  const step = findTotpStep(secret, form.get('code').replace(/\s/g, ''), clock(), 0);
  if (step === undefined) {
    errors.set('code', 'Incorrect code. Check that your phone shows the right time.');
  }
  await confirmPassword(request, portal, form, errors);
  if (errors.size > 0 || step === undefined) {
    return renderOff(request, portal, secret, { form, errors });
  }
  const { codes, hashes } = generateRecoveryCodes();
  await store.enableTotp(account, { secret, step, recoveryHashes: hashes }, by);
  return renderCodes(request, portal, codes);
};

/** POST /portal/account/two-factor/codes: 200, 303, 422, 429, 503 */
export const makeRecoveryCodes: Submit = async (request, portal, form) => {
  return request.account.hasTotp ? recoveryCodesForm.submit(request, portal, form)
    : redirect(request.link(PAGE));
};

const recoveryCodesForm = defineForm({
  fields: [CURRENT_PASSWORD],
  render: renderOn,
  async save(_, request, portal) {
    const { codes, hashes } = generateRecoveryCodes();
    await portal.store.setRecoveryCodes(request.account, hashes, request.by);
    return renderCodes(request, portal, codes);
  },
});

/** POST /portal/account/two-factor/off: 303, 422, 429, 503 */
export const turnOffForm = defineForm({
  fields: OFF_FIELDS,
  render: renderOn,
  async save(_, { account, by, link }, { store }) {
    await store.disableTotp(account, by);
    return redirect(link('/account?done=off'));
  },
});

function generateRecoveryCodes() {
  const codes = Array.from({ length: RECOVERY_CODES }, () => generateCode(RECOVERY_CODE_LENGTH));
  return { codes, hashes: codes.map((code) => hashCode(code) ?? '') };
}

function contextOf({ account, user }: PageRequest): string {
  return `new totp ${account.sellerId} ${account.accountId} ${user.session.id}`;
}

async function renderOff(
  request: PageRequest, portal: Portal, secret: TotpSecret, state: FormState,
): Promise<Reply> {
  const { account, link, query } = request;
  const encrypted = await encryptValue(portal, { secret }, contextOf(request), NEW_TOTP_LIFE_MS);
  const uri = formatTotpUri(secret, account.sellerName, account.email);
  return renderPage(request, portal, {
    title: TITLE,
    state, fields: FIELDS,
    scripts: ['passkey.js'],
    content: html`${lacksTwoFactor(account) && alert('low', html`<p>Your shop requires two-factor
        authentication. Turn it on to continue, or <a href="${link('/account/passkeys')}">sign in
        with passkeys only</a>.</p>`)}
      ${query.get('done') === 'late' && state.errors.size === 0
        && notice(html`<p>The page has expired. Add the new secret below to your app.</p>`)}
      <p>With two-factor authentication, you sign in with your password and a six-digit code from an
        authenticator app on your phone. Any app for one-time passwords (TOTP) works.</p>
      ${card('secret', '1. Add the secret to your app', html`
        <p>Scan this code with the app. On your phone, <a href="${uri}">open it in the app</a>.</p>
        ${qrCode('QR code with the secret, for authenticator apps', uri)}
        <p>If the app cannot scan it, enter this secret: time-based, 6 digits, every 30 seconds.</p>
        ${copyable('secret', formatTotpSecret(secret))}`)}
      ${card('confirm', '2. Confirm the code', postForm(request, link(PAGE), html`
        ${hiddenField('secret', encrypted)}
        ${renderFields(FIELDS, state)}${passkeyButton(request)}
        <button class="primary">Turn on</button>`))}`,
  });
}

async function renderOn(request: PageRequest, portal: Portal, state: FormState): Promise<Reply> {
  const { account, link, format } = request;
  const totp = await portal.store.findTotp(account);
  const isReadable = totp === undefined || totp.secret !== undefined;
  return renderPage(request, portal, {
    title: TITLE,
    state, fields: [CURRENT_PASSWORD],
    scripts: ['passkey.js'],
    content: html`${!isReadable && html`<div class="notice bad"><p>The server cannot check your
        app's codes: server.key in its data folder is missing or does not match the database.
        Restore the matching file and restart the server, or turn two-factor authentication off and
        on again.</p></div>`}
      <p>Two-factor authentication is on. You have ${format.number(totp?.recoveryCodes ?? 0)}
        recovery codes left. Each signs you in once without your phone.</p>
      ${card('codes', 'New recovery codes', html`
        <p>New codes replace your current recovery codes.</p>
        ${postForm(request, link(`${PAGE}/codes`), html`${renderFields([CURRENT_PASSWORD], state)}
          ${passkeyButton(request)}<button>Generate new codes</button>`)}`)}
      ${card('off', 'Turn off', html`<p>Your password alone will be enough to sign in.</p>
        ${postForm(request, link(`${PAGE}/off`), html`${renderFields(OFF_FIELDS, state)}
          ${passkeyButton(request)}<button class="danger">Turn off two-factor
            authentication</button>`)}`)}`,
  });
}

function renderCodes(request: PageRequest, portal: Portal, codes: readonly string[]): Reply {
  return renderPage(request, portal, {
    title: 'Recovery codes',
    content: html`${notice(html`<p>Two-factor authentication is on.</p>`)}
      ${card('codes', 'Save these codes', html`<p>Each code signs you in once without your
        phone. You won't see them again. Store them with your password, not on your phone.</p>
        ${copyable('codes', codes.join('\n'))}`)}
      ${offerToEndSessions(request)}
      <p><a class="button primary" href="${request.link('/account')}">I've saved these
        codes</a></p>`,
  });
}
