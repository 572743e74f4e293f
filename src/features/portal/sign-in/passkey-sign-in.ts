/**
 * Signing in with a passkey. It verifies the user on the device, so it counts as both factors: no
 * code is asked for. The browser offers the passkeys that it knows, so no e-mail is needed, and the
 * server does not reveal who has one.
 */
import { parseUserHandle } from '../../../domain/access/passkey.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Credentials } from '../../../store/account-store.ts';
import type { PasskeyUse } from '../../../store/passkey-store.ts';
import { readDraft } from '../forms/draft.ts';
import { type Form, NO_ERRORS } from '../forms/form.ts';
import { CHALLENGE_LIFE_MS } from '../limits.ts';
import type { AnonymousPageRequest, PageRequest, Portal } from '../route.ts';
import { readDevice } from './device.ts';
import {
  COPIED_PASSKEY, getRpId, issueChallenge, listKnown, readResponseText, readUse, UNKNOWN_PASSKEY,
} from './passkeys.ts';
import { redirectToSignIn, renderSignIn, toPagePath } from './sign-in-pages.ts';
import { completeSignIn, logFailedSignIn } from './sign-in.ts';


/** What was verified, or why not. */
type Outcome =
  | { readonly credentials: Credentials; readonly use: PasskeyUse }
  | { readonly detail: string };

/** GET /portal/sign-in/passkey/options: 200, 404. What `passkey.js` asks the browser. */
export async function sendSignInOptions(
  request: AnonymousPageRequest, portal: Portal,
): Promise<Reply> {
  const rpId = getRpId(request);
  const challenge = await issueChallenge(request, portal, 'sign in');
  return toJson({ ...challenge, rpId, allowed: [], lifeMs: CHALLENGE_LIFE_MS });
}

/** GET /portal/account/passkeys/options: 200, 404. What `passkey.js` asks for a confirmation. */
export async function sendConfirmationOptions(
  request: PageRequest, portal: Portal,
): Promise<Reply> {
  const rpId = getRpId(request);
  const allowed = await listKnown(portal, request.account, rpId);
  return toJson({ ...await issueChallenge(request, portal, 'confirm'), rpId, allowed });
}

/** GET /portal/sign-in/passkey: 303. Its address remains after a response that was rejected. */
export async function reopenSignIn(request: AnonymousPageRequest): Promise<Reply> {
  return redirectToSignIn(request);
}

/** POST /portal/sign-in/passkey: 303, 422, 429 */
export async function signInWithPasskey(
  request: AnonymousPageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { address } = request;
  const device = (await readDevice(request, portal))?.id;
  let outcome: Outcome = { detail: UNKNOWN_PASSKEY };
  await portal.limits.tryPasskey({ address, device }, async () => {
    outcome = await verify(request, portal, form);
    return 'use' in outcome;
  });
  return answer(request, portal, form, outcome);
}

function toJson(value: object): Reply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify(value),
  };
}

async function verify(
  request: AnonymousPageRequest, portal: Portal, form: Form,
): Promise<Outcome> {
  const { store } = portal;
  const named = parseUserHandle(readResponseText(form, 'user_handle'));
  const account = named && await store.findAccount(named);
  const credentials = account && await store.findCredentials(account.email);
  if (!credentials) return { detail: UNKNOWN_PASSKEY };
  const used = await readUse(request, portal, form, { account: credentials, purpose: 'sign in' });
  if ('value' in used) return { credentials, use: used.value };
  logFailedSignIn(request, portal, credentials, `Passkey of ${account.email} not accepted`);
  return used;
}

async function answer(
  request: AnonymousPageRequest, portal: Portal, form: Form, outcome: Outcome,
): Promise<Reply> {
  const draft = readDraft(form);
  const reject = (detail: string): Reply => renderSignIn(
    request, portal, { to: form.get('to'), draft }, { form, errors: NO_ERRORS, detail },
  );
  if ('detail' in outcome) return reject(outcome.detail);
  const { credentials, use } = outcome;
  const reply = await completeSignIn(request, portal, {
    verified: credentials, to: toPagePath(form.get('to')), draft,
    start: (session) => portal.store.createPasskeySession(credentials, use, session),
  });
  if (reply) return reply;
  const subject = `Signature counter of passkey ${use.name} not accepted: it may have been copied`;
  logFailedSignIn(request, portal, credentials, subject);
  return reject(COPIED_PASSKEY);
}
