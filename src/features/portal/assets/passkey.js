/**
 * Creates and uses passkeys (WebAuthn Level 2): puts the browser's response into hidden fields of
 * the button's form, and submits it. To use one, it first asks the server for a challenge.
 */

/** @typedef {{ id: string, transports: AuthenticatorTransport[] }} Known */

const buttons = [...document.querySelectorAll('button[data-passkey]')]
  .filter((button) => button instanceof HTMLButtonElement);
/** Of the request that waits for the user to choose a passkey as autofill. */
let waiting = new AbortController();

if ('PublicKeyCredential' in globalThis) {
  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener('click', () => run(button));
    if ('conditional' in button.dataset) offerAutofill(button);
  }
} else {
  for (const note of document.querySelectorAll('[data-passkey-missing]')) {
    if (note instanceof HTMLElement) note.hidden = false;
  }
}

/** @param {HTMLButtonElement} button */
async function run(button) {
  const { form } = button;
  if (!form) return;
  // A browser has one request at a time.
  waiting.abort();
  show(form, '');
  button.disabled = true;
  try {
    if (button.dataset.passkey === 'create') {
      const options = JSON.parse(button.dataset.create ?? '');
      fillCreated(form, options, await create(options));
    } else {
      const options = await loadOptions(button);
      fillUsed(form, options, await use(options, {}));
    }
    form.submit();
  } catch (error) {
    show(form, explain(error));
    button.disabled = false;
    if ('conditional' in button.dataset) offerAutofill(button);
  }
}

/**
 * Offers passkeys where the e-mail is typed, with a new challenge before the last one expires.
 * @param {HTMLButtonElement} button
 */
async function offerAutofill(button) {
  const { form } = button;
  if (!form || !await PublicKeyCredential.isConditionalMediationAvailable?.()) return;
  waiting = new AbortController();
  const { signal } = waiting;
  try {
    const options = await loadOptions(button);
    if (signal.aborted) return;
    const renewal = setTimeout(() => {
      waiting.abort();
      offerAutofill(button);
    }, options.lifeMs / 2);
    signal.addEventListener('abort', () => clearTimeout(renewal));
    const credential = await use(options, { mediation: 'conditional', signal });
    clearTimeout(renewal);
    fillUsed(form, options, credential);
    form.submit();
  } catch {
    // The user signs in in another way, or uses the button, which shows what is wrong.
  }
}

/** @param {HTMLButtonElement} button */
async function loadOptions(button) {
  const response = await fetch(button.dataset.options ?? '').catch(() => undefined);
  const type = response?.headers.get('content-type') ?? '';
  if (response?.ok && type.startsWith('application/json')) return response.json();
  throw new Error(explainResponse(response));
}

/** @param {Response | undefined} response Undefined if the server cannot be reached. */
function explainResponse(response) {
  if (response?.redirected) {
    return 'Your session has ended. Reload the page to sign in again.';
  }
  if (response?.status === 429) {
    const seconds = response.headers.get('retry-after') ?? '60';
    return `Too many requests. Try again in ${seconds} s.`;
  }
  return response ? 'The server rejected the request. Reload the page and try again.'
    : 'The server cannot be reached. Check your connection and try again.';
}

/**
 * @param {{ challenge: string, rpId: string, allowed: Known[] }} options
 * @param {CredentialRequestOptions} how
 */
async function use({ challenge, rpId, allowed }, how) {
  return navigator.credentials.get({
    ...how,
    publicKey: {
      challenge: decode(challenge), rpId, userVerification: 'required',
      allowCredentials: allowed.map(describe),
    },
  });
}

/**
 * @param {{ challenge: string, rpId: string, rpName: string, algorithms: number[],
 *   excluded: Known[], user: { id: string, name: string, displayName: string } }} options
 */
async function create({ challenge, rpId, rpName, algorithms, excluded, user }) {
  return navigator.credentials.create({
    publicKey: {
      challenge: decode(challenge),
      rp: { id: rpId, name: rpName },
      user: { ...user, id: decode(user.id) },
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      authenticatorSelection: {
        residentKey: 'required', requireResidentKey: true, userVerification: 'required',
      },
      attestation: 'none',
      excludeCredentials: excluded.map(describe),
    },
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {{ encrypted: string }} options
 * @param {Credential | null} credential
 */
function fillUsed(form, { encrypted }, credential) {
  // The casts: these are the types for the options above.
  const { rawId, response: any } = /** @type {PublicKeyCredential} */ (credential);
  const response = /** @type {AuthenticatorAssertionResponse} */ (any);
  fill(form, {
    challenge: encrypted,
    credential_id: encode(rawId),
    client_data: encode(response.clientDataJSON),
    authenticator_data: encode(response.authenticatorData),
    signature: encode(response.signature),
    user_handle: response.userHandle ? encode(response.userHandle) : '',
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {{ encrypted: string }} options
 * @param {Credential | null} credential
 */
function fillCreated(form, { encrypted }, credential) {
  // The casts: these are the types for the options above.
  const { response: any } = /** @type {PublicKeyCredential} */ (credential);
  const response = /** @type {AuthenticatorAttestationResponse} */ (any);
  fill(form, {
    challenge: encrypted,
    client_data: encode(response.clientDataJSON),
    attestation: encode(response.attestationObject),
    transports: (response.getTransports?.() ?? []).join(' '),
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {Record<string, string>} values
 */
function fill(form, values) {
  for (const [name, value] of Object.entries(values)) {
    const field = document.createElement('input');
    Object.assign(field, { type: 'hidden', name, value });
    form.append(field);
  }
}

/** @param {Known} known */
function describe({ id, transports }) {
  return { type: /** @type {const} */ ('public-key'), id: decode(id), transports };
}

/**
 * @param {HTMLFormElement} form
 * @param {string} text Empty for none.
 */
function show(form, text) {
  const fault = form.querySelector('[data-passkey-error]');
  if (!(fault instanceof HTMLElement)) return;
  fault.textContent = text;
  fault.hidden = text === '';
}

/** @param {unknown} error */
function explain(error) {
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  if (name === 'NotAllowedError') return 'Cancelled, or no passkey was found. Try again.';
  if (name === 'InvalidStateError') return 'This device already has a passkey for your account.';
  return message;
}

/** @param {string} text In base64url. */
function decode(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** @param {ArrayBuffer} buffer */
function encode(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
