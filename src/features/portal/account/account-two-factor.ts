/**
 * The second step of signing in: one-time passwords are switched on by one that is right, so that
 * nobody shuts themselves out; recovery codes are shown when they are made, and never again. Until
 * then a new secret is kept nowhere: the page carries it, sealed for its session.
 */
import { generateCode, hashCode } from '../../../domain/access/human-code.ts';
import {
  findTotpStep, formatTotpSecret, formatTotpUri, generateTotpSecret, type TotpSecret,
} from '../../../domain/access/totp.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { errorSummary, postForm, textField } from '../forms/fields.ts';
import { type FieldErrors, Form, NO_ERRORS } from '../forms/form.ts';
import { copyable, notice } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { NEW_TOTP_LIFE_MS, RECOVERY_CODES } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';
import { confirmPassword, confirmPasswordField } from '../sign-in/confirm-password.ts';

const PAGE = '/account/second-step';
const WRONG_CODE = 'This is not what the app should show now. Is the clock of your phone right?';

/** GET /portal/account/second-step: 200 */
export async function showTwoFactor(request: PageRequest, portal: Portal): Promise<Reply> {
  return request.account.hasTotp
    ? renderOn(request, portal, NO_ERRORS) : renderOff(request, portal, generateTotpSecret());
}

/** POST /portal/account/second-step: 200, 303, 422, 429, 503 */
export async function enableTwoFactor(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { account: { sellerId }, address } = request;
  const { store, clock } = portal;
  const secret = await openSecret(request, portal, form.get('secret'));
  const known = await store.findTotp(sellerId);
  // The same form, sent twice, is answered twice: only the last answer is seen.
  if (secret === undefined || (known && known.secret !== secret)) {
    return redirect(request.link(`${PAGE}?done=${known ? 'already' : 'late'}`));
  }
  const errors = new Map<string, string>();
  const step = findTotpStep(secret, form.get('code').replace(/\s/g, ''), clock(), 0);
  if (step === undefined) errors.set('code', WRONG_CODE);
  await confirmPassword(request, portal, form, errors);
  if (errors.size > 0 || step === undefined) return renderOff(
    request, portal, secret, form, errors,
  );
  const { codes, hashes } = generateRecoveryCodes();
  await store.enableTotp(sellerId, { secret, step, recoveryHashes: hashes }, address);
  return renderCodes(request, portal, codes);
}

/** POST /portal/account/second-step/codes: 200, 303, 422, 429, 503 */
export async function makeRecoveryCodes(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { account: { sellerId, hasTotp }, address } = request;
  if (!hasTotp) return redirect(request.link(PAGE));
  const errors = new Map<string, string>();
  await confirmPassword(request, portal, form, errors);
  if (errors.size > 0) return renderOn(request, portal, errors);
  const { codes, hashes } = generateRecoveryCodes();
  await portal.store.setRecoveryCodes(sellerId, hashes, address);
  return renderCodes(request, portal, codes);
}

/** POST /portal/account/second-step/off: 303, 422, 429, 503 */
export async function disableTwoFactor(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const errors = new Map<string, string>();
  await confirmPassword(request, portal, form, errors);
  if (errors.size > 0) return renderOn(request, portal, errors);
  await portal.store.disableTotp(request.account.sellerId, request.address);
  return redirect(request.link('/account?done=off'));
}

function generateRecoveryCodes(): {
  readonly codes: readonly string[]; readonly hashes: readonly string[];
} {
  const codes = Array.from({ length: RECOVERY_CODES }, () => generateCode());
  return { codes, hashes: codes.map((code) => hashCode(code) ?? '') };
}

interface NewSecret {
  readonly secret: TotpSecret;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** Undefined for one that is too old, or of another session. */
async function openSecret(
  request: PageRequest, { store, clock }: Portal, sealed: string,
): Promise<TotpSecret | undefined> {
  const text = await store.decrypt(sealed, contextOf(request));
  // The cast: nothing else is sealed for this.
  const opened = text === undefined ? undefined : JSON.parse(text) as NewSecret;
  return opened && clock() < opened.endsAt ? opened.secret : undefined;
}

function contextOf({ account, user }: PageRequest): string {
  return `new totp ${account.sellerId} ${user.session.id}`;
}

async function renderOff(
  request: PageRequest, portal: Portal, secret: TotpSecret, form = new Form(), errors = NO_ERRORS,
): Promise<Reply> {
  const { account, link, query } = request;
  const fresh: NewSecret = { secret, endsAt: portal.clock() + NEW_TOTP_LIFE_MS };
  const sealed = await portal.store.encrypt(JSON.stringify(fresh), contextOf(request));
  const uri = formatTotpUri(secret, account.sellerName, account.email);
  return renderPage(request, portal, {
    title: 'One-time codes',
    status: errors.size === 0 ? 200 : 422,
    content: html`${errorSummary(errors)}
      ${query.get('done') === 'late' && errors.size === 0
        && notice(html`<p>That took too long: here is a new secret.</p>`)}
      <p>With one-time codes, signing in takes your password and the six digits that an app on your
        phone shows. Any app for one-time codes (TOTP) will do.</p>
      <section class="card" aria-labelledby="secret">
        <h2 id="secret">1. Put the secret into your app</h2>
        ${copyable('secret', formatTotpSecret(secret))}
        <p>By time, 6 digits, every 30 seconds. On the phone itself:
          <a href="${uri}">open it in the app</a>.</p>
      </section>
      <section class="card" aria-labelledby="confirm">
        <h2 id="confirm">2. Show that it works</h2>
        ${postForm(request, link(PAGE), html`
          <input type="hidden" name="secret" value="${sealed}">
          ${textField({
    name: 'code', label: 'Code that the app shows', value: form.get('code'), errors,
    inputMode: 'numeric', autocomplete: 'one-time-code', isRequired: true, maxLength: 10,
  })}
          ${confirmPasswordField(errors)}
          <button>Switch on</button>`)}
      </section>`,
  });
}

async function renderOn(request: PageRequest, portal: Portal, errors: FieldErrors): Promise<Reply> {
  const { account, link, format } = request;
  const totp = await portal.store.findTotp(account.sellerId);
  const isReadable = totp === undefined || totp.secret !== undefined;
  return renderPage(request, portal, {
    title: 'One-time codes',
    status: errors.size === 0 ? 200 : 422,
    content: html`${errorSummary(errors)}
      ${!isReadable && html`<div class="notice bad"><p>The codes of your app cannot be checked:
        server.key in the data folder of the server is missing, or is another one. Put back the one
        that belongs to the database and restart the server, or switch one-time codes off and on
        again.</p></div>`}
      <p>One-time codes are on. You have ${format.number(totp?.recoveryCodes ?? 0)} recovery codes
        left: each signs you in once without your phone.</p>
      <section class="card" aria-labelledby="anew">
        <h2 id="anew">New recovery codes</h2>
        <p>They replace all that you have.</p>
        ${postForm(request, link(`${PAGE}/codes`), html`${confirmPasswordField(errors)}
          <button>Make new codes</button>`)}
      </section>
      <section class="card" aria-labelledby="off">
        <h2 id="off">Switch off</h2>
        <p>Whoever knows your password can sign in then.</p>
        ${postForm(request, link(`${PAGE}/off`), html`
          ${confirmPasswordField(errors, 'off-password')}
          <button class="danger">Switch one-time codes off</button>`)}
      </section>`,
  });
}

function renderCodes(request: PageRequest, portal: Portal, codes: readonly string[]): Reply {
  return renderPage(request, portal, {
    title: 'Recovery codes',
    content: html`${notice(html`<p>One-time codes are on.</p>`)}
      <section class="card" aria-labelledby="codes">
        <h2 id="codes">Keep these codes</h2>
        <p>Each signs you in once, should you not have your phone. They are shown this once: keep
          them where you keep your password, and not on the phone.</p>
        ${copyable('codes', codes.join('\n'))}
      </section>
      <p><a class="button" href="${request.link('/account')}">I have kept them</a></p>`,
  });
}
