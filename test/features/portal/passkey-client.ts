/**
 * A minimal browser with passkeys: it requests challenges and sends responses of software
 * authenticators, as `passkey.js` does. It opens the portal at localhost, which is a valid RP ID.
 */
import assert from 'node:assert/strict';
import type { AccountReference } from '../../../src/domain/access/account.ts';
import { formatUserHandle } from '../../../src/domain/access/passkey.ts';
import { SoftwareAuthenticator } from '../../support/authenticator.ts';
import type { Answer, Request } from '../../support/http.ts';
import { ownerOf } from '../../support/owner.ts';
import { PageClient, type Shop } from './page-client.ts';

export const PAGE = '/portal/account/passkeys';

/** The options that `passkey.js` gets from the server. */
interface Options {
  readonly challenge: string;
  readonly encrypted: string;
  readonly rpId: string;
}

/** Changes to the authenticator's response (`ask`) and to the submitted fields. */
interface Tampering {
  readonly ask?: Partial<Parameters<SoftwareAuthenticator['get']>[0]>;
  readonly fields?: Readonly<Record<string, string>>;
}

export class PasskeyClient extends PageClient {
  readonly host: string;

  constructor(port: number, host = 'localhost') {
    super(port);
    this.host = `${host}:${port}`;
  }

  override request(request: Request): Promise<Answer> {
    return super.request({ ...request, headers: { host: this.host, ...request.headers } });
  }

  get origin(): string {
    return `http://${this.host}`;
  }

  async fetchOptions(path: string): Promise<Options> {
    const shown = this.page;
    const { status, text } = await this.get(path);
    this.page = shown; // a script fetches the options, so the page stays
    assert.equal(status, 200, text);
    // The cast: the page's tests check the members.
    return JSON.parse(text) as Options;
  }

  /** The options for a new passkey on the current page. */
  readCreation(): Options & Record<string, unknown> {
    const [, json = ''] = /data-create="([^"]*)"/.exec(this.page?.text ?? '') ?? [];
    // The cast: the page's tests check the members.
    return JSON.parse(json.replaceAll('&quot;', '"').replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&')) as Options & Record<string, unknown>;
  }

  /** Submits a form of the current page, with the fields that scripts add. */
  send(action: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const own = this.formOf(action).filter(([name]) => !Object.hasOwn(fields, name));
    return this.post(action, new URLSearchParams([...own.map(([name, value]) => [name, value]),
      ...Object.entries(fields)]));
  }

  /** Adds a passkey, from the password page to the response. */
  async add(
    { password }: Pick<Shop, 'password'>, authenticator: SoftwareAuthenticator, name = 'Laptop',
    { ask = {}, fields = {} }: Tampering = {},
  ): Promise<Answer> {
    await this.get(`${PAGE}/new`);
    assert.equal((await this.submit({ current_password: password })).status, 200);
    const { challenge, encrypted } = this.readCreation();
    const created = authenticator.create({ challenge, origin: this.origin, ...ask });
    return this.send(PAGE, {
      name, challenge: encrypted, transports: 'internal hybrid',
      client_data: created.clientDataJson.toString('base64url'),
      attestation: created.attestationObject.toString('base64url'), ...fields,
    });
  }

  /** The authenticator's response as form fields. */
  use(
    options: Options, authenticator: SoftwareAuthenticator, account: AccountReference,
    { ask = {}, fields = {} }: Tampering = {},
  ): Record<string, string> {
    const { challenge, encrypted } = options;
    const answer = authenticator.get({ challenge, origin: this.origin, ...ask });
    return {
      challenge: encrypted,
      credential_id: authenticator.credentialId.toString('base64url'),
      client_data: answer.clientDataJson.toString('base64url'),
      authenticator_data: answer.authenticatorData.toString('base64url'),
      signature: answer.signature.toString('base64url'),
      user_handle: Buffer.from(formatUserHandle(account)).toString('base64url'),
      ...fields,
    };
  }

  /** Signs in with a passkey, from the sign-in page to the response. */
  async signIn(
    { sellerId }: Pick<Shop, 'sellerId'>, authenticator: SoftwareAuthenticator,
    { to = '', ...tampering }: Tampering & { readonly to?: string } = {},
  ): Promise<Answer> {
    await this.get(`/portal/sign-in${to}`);
    const options = await this.fetchOptions('/portal/sign-in/passkey/options');
    const fields = this.use(options, authenticator, ownerOf(sellerId), tampering);
    return this.send('/portal/sign-in/passkey', fields);
  }
}

/** A browser with a copy of the shop's session cookies. */
export function shareSession(shop: Shop): PasskeyClient {
  const client = new PasskeyClient(shop.user.port);
  for (const [name, value] of shop.user.cookies) client.cookies.set(name, value);
  return client;
}

/** Adds the first passkey of a shop, and returns its signed-in browser. */
export async function addFirst(shop: Shop, authenticator = new SoftwareAuthenticator()) {
  const user = shareSession(shop);
  const added = await user.add(shop, authenticator);
  assert.deepEqual([added.status, added.headers.location], [303, `${PAGE}?done=added`]);
  return { user, authenticator };
}
