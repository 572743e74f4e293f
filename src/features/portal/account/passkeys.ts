/**
 * An account's passkeys: lists, adds, renames and removes them, and turns off the password. The
 * challenge for a new passkey is issued only after the user has confirmed who they are.
 */
import {
  formatUserHandle, parsePasskeyName, type Passkey, readTransports,
} from '../../../domain/access/passkey.ts';
import { findRpId } from '../../../domain/access/webauthn/ceremony.ts';
import { PASSKEY_ALGORITHMS } from '../../../domain/access/webauthn/cose-key.ts';
import { AppError } from '../../../domain/error.ts';
import {
  PASSKEY_NAME_LIMIT_CODE_POINTS, PASSKEYS_PER_ACCOUNT_LIMIT,
} from '../../../domain/limits.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { type Field, postForm, renderFields } from '../forms/fields.ts';
import { defineFormPage } from '../forms/form-page.ts';
import { type FormState, hiddenField, initialState, NO_ERRORS, takeValue } from '../forms/form.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { describeBrowser } from '../html/browser.ts';
import { alert, card, flashNotice, type Row, table } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { PageRequest, Portal, Submit } from '../route.ts';
import {
  getRpId, issueChallenge, listHostPasskeys, readRegistration, renderAddressNote,
} from '../sign-in/passkeys.ts';
import { CURRENT_PASSWORD } from '../sign-in/password-fields.ts';
import { offerToEndSessions } from './sessions.ts';

const PAGE = '/account/passkeys';
const DONE = new Map([
  ['added', 'Passkey added. You can sign in with it now.'],
  ['renamed', 'Passkey renamed.'],
  ['removed', 'Passkey removed. Delete it on your device, too: it no longer works here.'],
  ['password-off', 'You can no longer sign in with your password.'],
  ['password-on', 'You can sign in with your password again.'],
]);
const NAME: Field = {
  name: 'name', label: 'Name', isRequired: true, maxLength: PASSKEY_NAME_LIMIT_CODE_POINTS,
  hint: 'So that you recognize it, such as the device that keeps it.',
};

/** GET /portal/account/passkeys: 200. @param state Of a form that was rejected. */
export async function showPasskeys(
  request: PageRequest, portal: Portal, state: FormState = initialState(),
): Promise<Reply> {
  const { account, link } = request;
  const passkeys = await portal.store.listPasskeys(account);
  const rpId = findRpId(request.base.origin);
  return renderPage(request, portal, {
    title: 'Passkeys',
    state,
    scripts: ['passkey.js'],
    content: html`${state.detail === undefined
        && flashNotice(request, DONE, offerToEndSessions(request))}
      <p>With a passkey, you sign in with your fingerprint, your face or the PIN of a device or a
        security key. It replaces the password and the authentication code, and works only at this
        portal's address, so nobody can trick you into giving it away.</p>
      ${rpId === undefined ? alert('low', html`<p>${renderAddressNote(request, PAGE)}</p>`) : html`
        <noscript><p class="notice low">Adding and using passkeys needs JavaScript.</p></noscript>
        <p class="notice low" data-passkey-missing hidden>This browser does not support
          passkeys.</p>`}
      ${table({
    caption: 'Your passkeys',
    columns: ['Name', 'Added', 'Last used'],
    rows: passkeys.map((passkey) => renderRow(request, passkey, rpId)),
    empty: html`<p>You have no passkey yet.</p>`,
  })}
      ${rpId !== undefined
        && html`<p><a class="button primary" href="${link(`${PAGE}/new`)}">Add a passkey</a></p>`}
      ${card('password', 'Password sign-in', renderPasswordSignIn(request))}`,
  });
}

/** GET /portal/account/passkeys/{passkey_id}: 200, 404. POST: 303, 404, 422 */
export const renamePasskeyForm = defineFormPage({
  fields: [NAME],
  find: getPasskey,
  page: ({ subject: { id, name }, link }) => ({
    title: `Passkey ${name}`, cancel: PAGE, submit: 'Rename',
    fields: [{ ...NAME, initial: name }],
    after: html`<p><a href="${link(`${PAGE}/${id}/remove`)}">Remove this passkey</a></p>`,
  }),
  read: (form, errors) => takeValue(errors, 'name', parsePasskeyName(form.get('name')), ''),
  async save(name, { subject, account, link }, { store }) {
    await store.renamePasskey(account, subject.id, name);
    return redirect(link(`${PAGE}?done=renamed`));
  },
});

/**
 * GET /portal/account/passkeys/{passkey_id}/remove: 200, 404. POST: 303, 404, 409, 422, 429, 503
 */
export const removePasskeyForm = defineFormPage({
  fields: [CURRENT_PASSWORD],
  find: getPasskey,
  page: ({ subject: { name } }) => ({
    title: 'Remove passkey', cancel: PAGE, submit: 'Remove passkey', isDestructive: true,
    before: html`<p>You can no longer sign in with <strong>${name}</strong>. Browsers that are
      signed in stay signed in.</p>`,
  }),
  async save(_, request, portal) {
    const { subject: { id, credentialId }, account, by, link } = request;
    // The store keeps the last passkey; this also keeps the last one that works at this host.
    const [only, ...others] = await listHostPasskeys(request, portal);
    if (account.isPasswordOff && only?.id === credentialId && others.length === 0) {
      throw new AppError('limit_reached', 'This is your only passkey for this address, and you '
        + 'cannot sign in with your password. Add another passkey or turn on the password first.');
    }
    await portal.store.removePasskey(account, id, by);
    return redirect(link(`${PAGE}?done=removed`));
  },
});

/** GET /portal/account/password-sign-in: 200. POST: 303, 409, 422, 429, 503 */
export const passwordSignInForm = defineFormPage({
  fields: [CURRENT_PASSWORD],
  find: getRpId,
  needsPasskey: () => true, // shows that one works; a stolen password cannot turn itself on
  page: ({ account: { isPasswordOff } }) => ({
    title: isPasswordOff ? 'Turn on password sign-in' : 'Turn off password sign-in',
    cancel: PAGE, submit: isPasswordOff ? 'Turn on' : 'Turn off',
    hidden: hiddenField('is_off', isPasswordOff ? 'no' : 'yes'),
    before: isPasswordOff
      ? html`<p>You will sign in with a passkey, or with your e-mail and password.</p>`
      : html`<p>You will sign in with your passkeys only. Have at least two, on different devices:
        if you lose the only one, the server's operator must run
        <code>seller reset-password</code>.</p>`,
  }),
  read: (form) => form.get('is_off') === 'yes',
  async save(isOff, request, portal) {
    if (isOff && (await listHostPasskeys(request, portal)).length === 0) {
      throw new AppError('limit_reached', 'You have no passkey for this address. Add one first.');
    }
    await portal.store.setPasswordOff(request.account, isOff, request.by);
    return redirect(request.link(`${PAGE}?done=password-${isOff ? 'off' : 'on'}`));
  },
});

function renderRow({ link, format }: PageRequest, passkey: Passkey, rpId?: string): Row {
  const { id, name, createdAt, lastUsedAt } = passkey;
  return [
    html`<a href="${link(`${PAGE}/${id}`)}">${name}</a>${passkey.rpId !== rpId
      && html`<br><span class="small quiet">Only at ${passkey.rpId}</span>`}`,
    format.timeElement(createdAt),
    lastUsedAt === undefined ? 'Never' : format.timeElement(lastUsedAt),
  ];
}

function renderPasswordSignIn({ account, link }: PageRequest): Content {
  const change = (label: string): Html =>
    html`<p><a class="button" href="${link('/account/password-sign-in')}">${label}</a></p>`;
  if (account.isPasswordOff) {
    return html`<p>Off: you sign in with passkeys only. Your password still confirms changes of your
      account.</p>${change('Turn on password sign-in')}`;
  }
  return html`<p>On: you can sign in with a passkey, or with your e-mail and password.</p>
    ${account.passkeys > 0 ? change('Turn off password sign-in')
    : html`<p class="hint">You can turn it off once you have a passkey.</p>`}`;
}

/** @throws AppError `not_found` */
async function getPasskey(
  { account, parameters }: PageRequest, { store }: Portal,
): Promise<Passkey> {
  const id = findWholeNumber(parameters['passkey_id'] ?? '');
  const passkey = (await store.listPasskeys(account)).find((candidate) => candidate.id === id);
  if (passkey) return passkey;
  throw new AppError('not_found', 'There is no such passkey.');
}

/** GET /portal/account/passkeys/new: 200, 404. POST: 200, 404, 409, 422, 429, 503 */
export const newPasskeyForm = defineFormPage({
  fields: [CURRENT_PASSWORD],
  find: getRpId,
  needsPasskey: ({ account }) => account.isPasswordOff,
  page: () => ({
    title: 'Add a passkey', cancel: PAGE, submit: 'Continue',
    before: html`<p>First confirm that it is you.</p>`,
  }),
  async save(_, request, portal) {
    if (request.account.passkeys >= PASSKEYS_PER_ACCOUNT_LIMIT) {
      throw new AppError('limit_reached', 'Your account has the maximum of '
        + `${PASSKEYS_PER_ACCOUNT_LIMIT} passkeys. Remove one first.`);
    }
    return renderCreation(request, portal);
  },
});

/** POST /portal/account/passkeys: 303, 404, 409, 422 */
export const addPasskey: Submit = async (request, portal, form) => {
  const { account, by, headers, link } = request;
  const rpId = getRpId(request);
  const registered = await readRegistration(request, portal, form);
  const reject = (detail: string): Promise<Reply> =>
    showPasskeys(request, portal, { form, errors: NO_ERRORS, detail });
  if ('detail' in registered) return reject(`${registered.detail} Nothing was added.`);
  const { credentialId, publicKey, signCount } = registered.value;
  // The device has created it already, so a bad name must not be the end of it.
  const parsed = parsePasskeyName(form.get('name'));
  const name = 'value' in parsed ? parsed.value : describeBrowser(headers['user-agent'] ?? '');
  const isAdded = await portal.store.addPasskey(account, {
    name, rpId, signCount,
    credentialId: Buffer.from(credentialId).toString('base64url'),
    publicKey: Buffer.from(publicKey).toString('base64url'),
    transports: readTransports(form.get('transports')),
  }, by);
  return isAdded ? redirect(link(`${PAGE}?done=added`))
    : reject('This passkey was added before. Nothing was added.');
};

/** The second step: the browser creates the passkey, and the form sends its public key. */
async function renderCreation(request: PageRequest, portal: Portal): Promise<Reply> {
  const { account, headers, link } = request;
  const options = {
    ...await issueChallenge(request, portal, 'add'), rpName: account.sellerName,
    algorithms: PASSKEY_ALGORITHMS, excluded: await listHostPasskeys(request, portal),
    user: {
      id: Buffer.from(formatUserHandle(account)).toString('base64url'),
      name: account.email, displayName: account.email,
    },
  };
  const state = initialState({ name: describeBrowser(headers['user-agent'] ?? '') });
  return renderPage(request, portal, {
    title: 'Add a passkey',
    scripts: ['passkey.js'],
    content: postForm(request, link(PAGE), html`
      <noscript><p class="notice low">Creating a passkey needs JavaScript.</p></noscript>
      <p class="notice low" data-passkey-missing hidden>This browser does not support passkeys.</p>
      ${renderFields([NAME], state)}
      <p class="fault" role="alert" data-passkey-error hidden></p>
      <div class="actions">
        <button type="button" class="primary" data-passkey="create"
          data-create="${JSON.stringify(options)}" hidden>Create passkey</button>
        <a class="button" href="${link(PAGE)}">Cancel</a></div>`, 'card stack'),
  });
}
