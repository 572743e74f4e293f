/**
 * What the portal asks browsers about passkeys, and their responses. A challenge is random, valid
 * for a few minutes, for one purpose, in one browser, and once. Nothing is stored until it is used:
 * the form carries it, encrypted with the server's key. Responses arrive as hidden fields of
 * ordinary forms, so they pass the same checks as any other form.
 */
import { randomBytes } from 'node:crypto';
import type { AccountReference } from '../../../domain/access/account.ts';
import { formatUserHandle, type Passkey } from '../../../domain/access/passkey.ts';
import {
  findRpId, type RegisteredCredential, verifyAssertion, verifyRegistration,
} from '../../../domain/access/webauthn/ceremony.ts';
import { AppError } from '../../../domain/error.ts';
import type { PasskeyUse } from '../../../store/account-store.ts';
import type { Form } from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import { CHALLENGE_LIFE_MS, CHALLENGE_LIMIT_CHARACTERS } from '../limits.ts';
import { type AnonymousPageRequest, type PageRequest, type Portal, ROOT } from '../route.ts';
import { decryptValue, encryptValue } from './cookie.ts';

/** The fields that `passkey.js` fills in: all are base64url, except `transports`. */
type ResponseField = 'challenge' | 'credential_id' | 'client_data' | 'authenticator_data'
  | 'signature' | 'user_handle' | 'attestation' | 'transports';

type Purpose = 'add' | 'confirm' | 'sign in';
/** The response, or why it was rejected. */
type Verified<Value> = { readonly value: Value } | { readonly detail: string };

const CHALLENGE_BYTES = 32;
const EXPIRED = 'The request expired. Try again.';
export const UNKNOWN_PASSKEY = 'This passkey is not registered here, or was removed.';

export const COPIED_PASSKEY =
  'This passkey was not accepted, because it was removed or may have been copied.';

/**
 * What the browser passes to the authenticator, and the encrypted copy for the form.
 * @throws AppError `not_found` if the host of the page is an IP address
 */
export async function issueChallenge(
  request: AnonymousPageRequest, portal: Portal, purpose: Purpose,
) {
  const rpId = getRpId(request);
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
  const encrypted = await encryptValue(
    portal, { challenge }, contextOf(request, purpose), CHALLENGE_LIFE_MS,
  );
  return { challenge, encrypted, rpId };
}

/** The RP ID of the page. @throws AppError `not_found` if its host is an IP address */
export function getRpId({ base }: AnonymousPageRequest): string {
  const rpId = findRpId(base.origin);
  if (rpId !== undefined) return rpId;
  throw new AppError('not_found', 'Passkeys need a host name: they do not work at an IP address.');
}

/** What browsers need to recognize the account's passkeys for this host. */
export async function listHostPasskeys({ account, base }: PageRequest, { store }: Portal) {
  const rpId = findRpId(base.origin);
  const passkeys = await store.listPasskeys(account);
  return passkeys.filter((passkey) => passkey.rpId === rpId)
    .map(({ credentialId: id, transports }) => ({ id, transports }));
}

/** The text of a field in base64url. */
export function readResponseText(form: Form, name: ResponseField): string {
  return readResponseBytes(form, name).toString();
}

/** The new credential, which is not stored yet. */
export async function readRegistration(
  request: AnonymousPageRequest, portal: Portal, form: Form,
): Promise<Verified<RegisteredCredential>> {
  const challenge = await takeChallenge(request, portal, 'add', form);
  if (challenge === undefined) return { detail: EXPIRED };
  return explain(() => verifyRegistration({ challenge, origin: request.base.origin }, {
    clientDataJson: readResponseBytes(form, 'client_data'),
    attestationObject: readResponseBytes(form, 'attestation'),
  }));
}

/**
 * Verifies an assertion of one of the account's passkeys. The caller stores the use, which also
 * checks the signature counter.
 */
export async function readUse(
  request: AnonymousPageRequest, portal: Portal, form: Form,
  { account, purpose }: { readonly account: AccountReference; readonly purpose: Purpose },
): Promise<Verified<PasskeyUse>> {
  const challenge = await takeChallenge(request, portal, purpose, form);
  if (challenge === undefined) return { detail: EXPIRED };
  const { origin } = request.base;
  const passkey = await findPasskey(portal, account, form, findRpId(origin));
  if (!passkey) return { detail: UNKNOWN_PASSKEY };
  const { id, name, publicKey } = passkey;
  const key = Buffer.from(publicKey, 'base64url');
  return explain(() => {
    const signCount = verifyAssertion({ challenge, origin }, key, {
      clientDataJson: readResponseBytes(form, 'client_data'),
      authenticatorData: readResponseBytes(form, 'authenticator_data'),
      signature: readResponseBytes(form, 'signature'),
    });
    return { id, name, publicKey, signCount };
  });
}

/** The passkey that the assertion names; a user handle, if sent, must name the same account. */
async function findPasskey(
  { store }: Portal, account: AccountReference, form: Form, rpId: string | undefined,
): Promise<Passkey | undefined> {
  const handle = readResponseText(form, 'user_handle');
  if (handle !== '' && handle !== formatUserHandle(account)) return undefined;
  const credentialId = readResponseBytes(form, 'credential_id').toString('base64url');
  return (await store.listPasskeys(account)).find((passkey) =>
    passkey.credentialId === credentialId && passkey.rpId === rpId);
}

/** Undefined if the challenge has expired, was used, or was issued to another browser. */
async function takeChallenge(
  request: AnonymousPageRequest, portal: Portal, purpose: Purpose, form: Form,
): Promise<string | undefined> {
  const issued = await decryptValue<{ readonly challenge: string }>(
    portal, form.get('challenge'), contextOf(request, purpose), CHALLENGE_LIMIT_CHARACTERS,
  );
  const isFirst = issued && await portal.limits.takeChallenge(issued.challenge);
  return isFirst ? issued.challenge : undefined;
}

function readResponseBytes(form: Form, name: ResponseField): Buffer {
  return Buffer.from(form.get(name), 'base64url');
}

/** Invalid responses are not errors of the page: it shows them beside the form. */
function explain<Value>(verify: () => Value): Verified<Value> {
  try {
    return { value: verify() };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { detail: `This passkey was not accepted. ${error.publicDetail}` };
  }
}

/** The CSRF token identifies the browser, and its session if it has one. */
function contextOf({ csrfToken }: AnonymousPageRequest, purpose: Purpose): string {
  return `passkey ${purpose} ${csrfToken}`;
}

/** @param path The page to open at a host name instead, below `/portal`. */
export function renderAddressNote({ base: { url } }: AnonymousPageRequest, path: string): Html {
  const local = new URL(url);
  const isLocal = local.hostname === '127.0.0.1' || local.hostname === '[::1]';
  local.hostname = 'localhost';
  const here = `${local.href.replace(/\/$/, '')}${ROOT}${path}`;
  return html`Passkeys need a host name, and you have opened the portal at an IP address.
    ${isLocal ? html`To use them, open it as <code>${here}</code> instead.`
    : 'To use them, start the server with --base-url and a host name.'}`;
}
