/**
 * A browser in miniature with passkeys: it asks for challenges and sends answers of software
 * authenticators, as `passkey.js` does. It opens the portal at localhost, which has an RP ID.
 */
import assert from 'node:assert/strict';
import type { AccountReference } from '../../../src/domain/access/account.ts';
import { formatUserHandle } from '../../../src/domain/access/passkey.ts';
import { SoftwareAuthenticator } from '../../support/authenticator.ts';
import type { Answer, Request } from '../../support/http.ts';
import { ownerOf } from '../../support/owner.ts';
import { PageClient, type Shop } from './page-client.ts';

export const PAGE = '/portal/account/passkeys';

/** What `passkey.js` gets from the server. */
interface Options {
  readonly challenge: string;
  readonly encrypted: string;
  readonly rpId: string;
}

/** What an answer gets wrong, and fields in the place of those that are sent. */
interface Fault {
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
    this.page = shown; // a script fetched it
    assert.equal(status, 200, text);
    // The cast: the tests of the page check its members.
    return JSON.parse(text) as Options;
  }

  /** The options of the page that is shown, for a new passkey. */
  readCreation(): Options & Record<string, unknown> {
    const [, json = ''] = /data-create="([^"]*)"/.exec(this.page?.text ?? '') ?? [];
    // The cast: the tests of the page check its members.
    return JSON.parse(json.replaceAll('&quot;', '"').replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&')) as Options & Record<string, unknown>;
  }

  /** Sends a form of the page that is shown, with what scripts add to it. */
  send(action: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const own = this.formOf(action).filter(([name]) => !Object.hasOwn(fields, name));
    return this.post(action, new URLSearchParams([...own.map(([name, value]) => [name, value]),
      ...Object.entries(fields)]));
  }

  /** From the list of passkeys to the end. */
  async add(
    { password }: Pick<Shop, 'password'>, authenticator: SoftwareAuthenticator, name = 'Laptop',
    { ask = {}, fields = {} }: Fault = {},
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

  /** An answer in the fields of a form. */
  use(
    options: Options, authenticator: SoftwareAuthenticator, account: AccountReference,
    { ask = {}, fields = {} }: Fault = {},
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

  /** From the sign-in page to the answer. */
  async signIn(
    { sellerId }: Pick<Shop, 'sellerId'>, authenticator: SoftwareAuthenticator,
    { to = '', ...fault }: Fault & { readonly to?: string } = {},
  ): Promise<Answer> {
    await this.get(`/portal/sign-in${to}`);
    const options = await this.fetchOptions('/portal/sign-in/passkey/options');
    const fields = this.use(options, authenticator, ownerOf(sellerId), fault);
    return this.send('/portal/sign-in/passkey', fields);
  }
}

/** A browser that shares the session of a shop's. */
export function shareSession(shop: Shop): PasskeyClient {
  const client = new PasskeyClient(shop.user.port);
  for (const [name, value] of shop.user.cookies) client.cookies.set(name, value);
  return client;
}

/** A shop with a passkey, signed in. */
export async function addFirst(shop: Shop, authenticator = new SoftwareAuthenticator()) {
  const user = shareSession(shop);
  const added = await user.add(shop, authenticator);
  assert.deepEqual([added.status, added.headers.location], [303, `${PAGE}?done=added`]);
  return { user, authenticator };
}
