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
import { copyable } from '../html/copyable.ts';
import { faultSummary, notice, postForm, textField } from '../forms/fields.ts';
import { type Faults, Form, NO_FAULTS } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { NEW_TOTP_LIFE_MS, RECOVERY_CODES } from '../limits.ts';
import { checkOwnPassword, ownPasswordField } from '../sign-in/confirm-password.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';

const PAGE = '/account/second-step';
const WRONG_CODE = 'This is not what the app should show now. Is the clock of your phone right?';

/** GET /portal/account/second-step: 200 */
export async function showSecondStep(visit: PageRequest, portal: Portal): Promise<Reply> {
  return visit.account.hasTotp
    ? renderOn(visit, portal, NO_FAULTS) : renderOff(visit, portal, generateTotpSecret());
}

/** POST /portal/account/second-step: 200, 303, 422, 429, 503 */
export async function enableSecondStep(
  visit: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { account: { sellerId }, address } = visit;
  const { store, clock } = portal;
  const secret = await openSecret(visit, portal, form.get('secret'));
  const known = await store.findTotp(sellerId);
  // The same form, sent twice, is answered twice: only the last answer is seen.
  if (secret === undefined || (known && known.secret !== secret)) {
    return redirect(visit.link(`${PAGE}?done=${known ? 'already' : 'late'}`));
  }
  const faults = new Map<string, string>();
  const step = findTotpStep(secret, form.get('code').replace(/\s/g, ''), clock(), 0);
  if (step === undefined) faults.set('code', WRONG_CODE);
  await checkOwnPassword(visit, portal, form, faults);
  if (faults.size > 0 || step === undefined) return renderOff(visit, portal, secret, form, faults);
  const { codes, hashes } = generateRecoveryCodes();
  await store.enableTotp(sellerId, { secret, step, recoveryHashes: hashes }, address);
  return renderCodes(visit, portal, codes);
}

/** POST /portal/account/second-step/codes: 200, 303, 422, 429, 503 */
export async function makeRecoveryCodes(
  visit: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { account: { sellerId, hasTotp }, address } = visit;
  if (!hasTotp) return redirect(visit.link(PAGE));
  const faults = new Map<string, string>();
  await checkOwnPassword(visit, portal, form, faults);
  if (faults.size > 0) return renderOn(visit, portal, faults);
  const { codes, hashes } = generateRecoveryCodes();
  await portal.store.setRecoveryCodes(sellerId, hashes, address);
  return renderCodes(visit, portal, codes);
}

/** POST /portal/account/second-step/off: 303, 422, 429, 503 */
export async function disableSecondStep(
  visit: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const faults = new Map<string, string>();
  await checkOwnPassword(visit, portal, form, faults);
  if (faults.size > 0) return renderOn(visit, portal, faults);
  await portal.store.disableTotp(visit.account.sellerId, visit.address);
  return redirect(visit.link('/account?done=off'));
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
  visit: PageRequest, { store, clock }: Portal, sealed: string,
): Promise<TotpSecret | undefined> {
  const text = await store.decrypt(sealed, contextOf(visit));
  // The cast: nothing else is sealed for this.
  const opened = text === undefined ? undefined : JSON.parse(text) as NewSecret;
  return opened && clock() < opened.endsAt ? opened.secret : undefined;
}

function contextOf({ account, visitor }: PageRequest): string {
  return `new totp ${account.sellerId} ${visitor.session.id}`;
}

async function renderOff(
  visit: PageRequest, portal: Portal, secret: TotpSecret, form = new Form(), faults = NO_FAULTS,
): Promise<Reply> {
  const { account, link, query } = visit;
  const fresh: NewSecret = { secret, endsAt: portal.clock() + NEW_TOTP_LIFE_MS };
  const sealed = await portal.store.encrypt(JSON.stringify(fresh), contextOf(visit));
  const uri = formatTotpUri(secret, account.sellerName, account.email);
  return renderPage(visit, portal, {
    title: 'One-time codes',
    status: faults.size === 0 ? 200 : 422,
    content: html`${faultSummary(faults)}
      ${query.get('done') === 'late' && faults.size === 0
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
        ${postForm(visit, link(PAGE), html`
          <input type="hidden" name="secret" value="${sealed}">
          ${textField({
    name: 'code', label: 'Code that the app shows', value: form.get('code'), faults,
    inputMode: 'numeric', autocomplete: 'one-time-code', isRequired: true, maxLength: 10,
  })}
          ${ownPasswordField(faults)}
          <button>Switch on</button>`)}
      </section>`,
  });
}

async function renderOn(visit: PageRequest, portal: Portal, faults: Faults): Promise<Reply> {
  const { account, link, format } = visit;
  const totp = await portal.store.findTotp(account.sellerId);
  const isReadable = totp === undefined || totp.secret !== undefined;
  return renderPage(visit, portal, {
    title: 'One-time codes',
    status: faults.size === 0 ? 200 : 422,
    content: html`${faultSummary(faults)}
      ${!isReadable && html`<div class="notice bad"><p>The codes of your app cannot be checked:
        server.key in the data folder of the server is missing, or is another one. Put back the one
        that belongs to the database and restart the server, or switch one-time codes off and on
        again.</p></div>`}
      <p>One-time codes are on. You have ${format.number(totp?.recoveryCodes ?? 0)} recovery codes
        left: each signs you in once without your phone.</p>
      <section class="card" aria-labelledby="anew">
        <h2 id="anew">New recovery codes</h2>
        <p>They replace all that you have.</p>
        ${postForm(visit, link(`${PAGE}/codes`), html`${ownPasswordField(faults)}
          <button>Make new codes</button>`)}
      </section>
      <section class="card" aria-labelledby="off">
        <h2 id="off">Switch off</h2>
        <p>Whoever knows your password can sign in then.</p>
        ${postForm(visit, link(`${PAGE}/off`), html`${ownPasswordField(faults, 'off-password')}
          <button class="danger">Switch one-time codes off</button>`)}
      </section>`,
  });
}

function renderCodes(visit: PageRequest, portal: Portal, codes: readonly string[]): Reply {
  return renderPage(visit, portal, {
    title: 'Recovery codes',
    content: html`${notice(html`<p>One-time codes are on.</p>`)}
      <section class="card" aria-labelledby="codes">
        <h2 id="codes">Keep these codes</h2>
        <p>Each signs you in once, should you not have your phone. They are shown this once: keep
          them where you keep your password, and not on the phone.</p>
        ${copyable('codes', codes.join('\n'))}
      </section>
      <p><a class="button" href="${visit.link('/account')}">I have kept them</a></p>`,
  });
}
