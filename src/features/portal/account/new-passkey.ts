/**
 * Adding a passkey, in two steps: the challenge for it is issued only after the user has confirmed
 * who they are.
 */
import {
  formatUserHandle, parsePasskeyName, readTransports,
} from '../../../domain/access/passkey.ts';
import { PASSKEY_ALGORITHMS } from '../../../domain/access/webauthn/cose-key.ts';
import { AppError } from '../../../domain/error.ts';
import { PASSKEYS_PER_ACCOUNT_LIMIT } from '../../../domain/limits.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { postForm, renderFields } from '../forms/fields.ts';
import { defineForm, renderFormPage } from '../forms/form-page.ts';
import { type Form, initialState, NO_ERRORS } from '../forms/form.ts';
import { describeBrowser } from '../html/browser.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { getRpId, issueChallenge, listKnown, readRegistration } from '../sign-in/passkeys.ts';
import { CURRENT_PASSWORD } from '../sign-in/password-fields.ts';
import { NAME, PAGE, renderPasskeys } from './passkeys.ts';

/** GET /portal/account/passkeys/new: 200, 404. POST: 200, 404, 409, 422, 429, 503 */
export const newPasskeyForm = defineForm({
  fields: [CURRENT_PASSWORD],
  render: (request, portal, state) => {
    getRpId(request);
    return renderFormPage(request, portal, {
      title: 'Add a passkey', action: `${PAGE}/new`, cancel: PAGE, submit: 'Continue',
      fields: [CURRENT_PASSWORD],
      before: html`<p>First confirm that it is you.</p>`,
    }, state);
  },
  read: () => undefined,
  async save(_, request, portal) {
    if (request.account.passkeys >= PASSKEYS_PER_ACCOUNT_LIMIT) {
      throw new AppError('limit_reached', 'Your account has the maximum of '
        + `${PASSKEYS_PER_ACCOUNT_LIMIT} passkeys. Remove one first.`);
    }
    return renderCreation(request, portal);
  },
});

/** POST /portal/account/passkeys: 303, 404, 409, 422 */
export async function addPasskey(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { account, by, headers, link } = request;
  const rpId = getRpId(request);
  const registered = await readRegistration(request, portal, form);
  const reject = (detail: string): Promise<Reply> =>
    renderPasskeys(request, portal, { form, errors: NO_ERRORS, detail });
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
}

/** The second step: the browser creates the passkey, and the form sends its public key. */
async function renderCreation(request: PageRequest, portal: Portal): Promise<Reply> {
  const { account, headers, link } = request;
  const rpId = getRpId(request);
  const options = {
    ...await issueChallenge(request, portal, 'add'), rpId, rpName: account.sellerName,
    algorithms: PASSKEY_ALGORITHMS, excluded: await listKnown(portal, account, rpId),
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
