/**
 * A minimal browser for tests over real sockets: it stores cookies as browsers do, submits the
 * forms of its current page, and follows redirects on request.
 */
import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import {
  type ApiKeySecret, generateApiKey, parseNewApiKey, toStoredSecret,
} from '../../../src/domain/access/api-key.ts';
import type { SellerId } from '../../../src/domain/id.ts';
import { parseNewSeller } from '../../../src/domain/access/seller.ts';
import { startSession } from '../../../src/features/portal/sign-in/session.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Answer, type Request, send } from '../../support/http.ts';
import type { TestServer } from '../../support/server.ts';
import { ownerOf } from '../../support/owner.ts';

type Value = string | File;
/** By name: a list for a repeated field, undefined to leave a field out. */
export type Fields = Readonly<Record<string, Value | readonly Value[] | undefined>>;

interface Submission {
  /** The form's `action`, if several forms of the page have these fields. */
  readonly action?: string;
  readonly headers?: OutgoingHttpHeaders;
}

export interface PageForm {
  readonly action: string;
  readonly isMultipart: boolean;
  /** The names of all controls, including buttons. */
  readonly names: ReadonlySet<string>;
  /** The fields that an unchanged form sends. */
  readonly values: readonly (readonly [name: string, value: string])[];
}

export class PageClient {
  readonly port: number;
  /** By name. */
  readonly cookies = new Map<string, string>();
  /** The current page: the last response. */
  page: Answer | undefined;

  constructor(port: number) {
    this.port = port;
  }

  get(path: string, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
    return this.request({ path, headers });
  }

  /** Follows the redirect of the last response, and the background job that it leads to. */
  async follow(): Promise<Answer> {
    let page = await this.followOnce();
    for (;;) {
      const [, refresh] = /id="progress".*?href="([^"]*)">Refresh</s.exec(page.text) ?? [];
      if (refresh === undefined) return page;
      page = await this.get(refresh);
    }
  }

  /** Follows the redirect of the last response. The page may show the progress of a job. */
  followOnce(): Promise<Answer> {
    const location = this.page?.headers.location;
    assert.ok(location !== undefined, `The last response is no redirect: ${this.page?.status}`);
    return this.get(location);
  }

  /** Submits a form of the current page; `fields` override its values. */
  async submit(fields: Fields, { action, headers = {} }: Submission = {}): Promise<Answer> {
    const forms = findForms(this.page?.text ?? '').filter((form) => action === undefined
      ? Object.keys(fields).every((name) => form.names.has(name)) : form.action === action);
    const form = action === undefined && forms.length > 1
      ? forms.find(({ action: path }) => !/\/(?:sign-out|theme)$/.test(path))
      : forms.find(({ names }) => Object.keys(fields).every((name) => names.has(name))) ?? forms[0];
    const wanted = `${action ?? ''} with ${Object.keys(fields).join(', ')}`;
    assert.ok(form, `The page has no form ${wanted}:\n${this.page?.text}`);
    const kept = form.values.filter(([name]) => !Object.hasOwn(fields, name));
    const given = Object.entries(fields).flatMap(([name, value]) =>
      [value ?? []].flat().map((one) => [name, one] as const));
    const body = encodeForm([...kept, ...given], form.isMultipart);
    return this.post(form.action, body, headers);
  }

  /** Posts a form that is on no page; `headers` can remove or forge the headers of a browser. */
  async post(
    path: string, body: FormData | URLSearchParams, headers: OutgoingHttpHeaders = {},
  ): Promise<Answer> {
    const encoded = new Response(body);
    return this.request({
      method: 'POST', path, body: await encoded.bytes(),
      headers: {
        'content-type': encoded.headers.get('content-type') ?? '',
        'sec-fetch-site': 'same-origin', ...headers,
      },
    });
  }

  async request(request: Request): Promise<Answer> {
    const cookie = this.formatCookies();
    const headers = Object.entries({
      ...(cookie !== '' && { cookie }), 'accept-language': 'en-GB', ...request.headers,
    }).filter(([, value]) => value !== undefined);
    this.page = await send(this.port, { ...request, headers: Object.fromEntries(headers) });
    for (const line of this.page.headers['set-cookie'] ?? []) this.#keep(line);
    return this.page;
  }

  /** The `Cookie` header field that it sends. */
  formatCookies(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** The value of a form field on the current page. */
  valueOf(name: string): string | undefined {
    const values = findForms(this.page?.text ?? '').flatMap((form) => form.values);
    return values.find(([other]) => other === name)?.[1];
  }

  /** The fields that the form with this action sends if it is unchanged. */
  formOf(action: string): PageForm['values'] {
    const form = findForms(this.page?.text ?? '').find((one) => one.action === action);
    return form?.values ?? assert.fail(`The page has no form ${action}.`);
  }

  /** Stores a cookie as browsers do, which reject a broken `__Host-` prefix (RFC 6265bis, 5.7). */
  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    const has = (text: string): boolean =>
      attributes.some((attribute) => attribute.toLowerCase() === text);
    const isHost = has('secure') && has('path=/')
      && !attributes.some((attribute) => /^domain=/i.test(attribute));
    assert.ok(isHost || !name.startsWith('__Host-'), `Browsers reject the cookie ${line}`);
    if (has('max-age=0')) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

export interface Shop {
  /** Signed in. */
  readonly user: PageClient;
  readonly sellerId: SellerId;
  readonly key: ApiKeySecret;
  readonly email: string;
  readonly password: string;
  /** Sends an API request with the key. */
  send(request: Request): Promise<Answer>;
}

let shops = 0;

interface NewShop {
  readonly name?: string;
  readonly currency?: string;
  readonly email?: string;
  readonly locale?: string;
  readonly timeZone?: string;
}

/**
 * Creates a shop with a key and an account, and signs in on the sign-in page. The server needs
 * `portal`.
 */
export async function openShop(
  { port, store }: Pick<TestServer, 'port' | 'store'>, options: NewShop = {},
): Promise<Shop> {
  const { sellerId, key, email, password } = await makeAccount(store, options);
  const user = new PageClient(port);
  await user.get('/portal/sign-in');
  const signedIn = await user.submit({ email, password });
  assert.equal(signedIn.status, 303, signedIn.text);
  return {
    user, sellerId, key, email, password,
    send: (request) =>
      send(port, { ...request, headers: { 'x-api-key': key, ...request.headers } }),
  };
}

/**
 * Creates a seller with a key and a signed-out account. The password hash uses minimal parameters:
 * verifying a hash from the joining page takes a large part of a second.
 */
export async function makeAccount(
  store: Store, options: NewShop = {},
): Promise<Pick<Shop, 'sellerId' | 'key' | 'email' | 'password'>> {
  shops += 1;
  const { name = 'A shop', currency = 'EUR', email = `anna${shops}@shop.example` } = options;
  const { locale = 'en-GB', timeZone = 'Europe/Zurich' } = options;
  const password = `seven green boats ${shops}`;
  const key = generateApiKey();
  const newKey = parseNewApiKey({
    name: 'My first key', scopes: [], addressRanges: [], expiresAt: undefined,
  });
  const joined = await store.register({
    codeHash: undefined, seller: parseNewSeller(name, currency),
    account: { email, passwordHash: hashCheaply(password), locale, timeZone },
    key: newKey, secret: toStoredSecret(key),
    session: startSession('', undefined).session,
  });
  assert.ok(joined.rejection === undefined);
  const { sellerId } = joined;
  await store.endSessions(ownerOf(sellerId), { allBut: 0 }, { type: 'session_ended', address: '' });
  return { sellerId, key, email, password };
}

/** An argon2id hash in PHC string format, with minimal parameters. */
export function hashCheaply(password: string): string {
  const nonce = Buffer.from('a salt for tests');
  const hash = argon2Sync('argon2id', {
    message: password, nonce, memory: 8, passes: 1, parallelism: 1, tagLength: 32,
  });
  const [salt, digest] = [nonce, hash].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${digest}`;
}

/** Waits until the session's last use is stored, which happens after the response is sent. */
export async function waitUntilSeen(
  { store }: Pick<TestServer, 'store'>, sellerId: SellerId, at: number,
): Promise<void> {
  for (;;) {
    const sessions = await store.listSessions(ownerOf(sellerId), 1_000);
    if (sessions.some(({ seenAt }) => seenAt === at)) return;
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}

/** The visible text of markup. */
export function readText(markup: string): string {
  const plain = markup.replace(/<(?:style|script)\b.*?<\/(?:style|script)>/gs, ' ');
  return unescapeText(plain.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ').trim();
}

function encodeForm(
  fields: readonly (readonly [name: string, value: Value])[], isMultipart: boolean,
): FormData | URLSearchParams {
  const body = isMultipart ? new FormData() : new URLSearchParams();
  for (const [name, value] of fields) {
    if (typeof value === 'string') body.append(name, value);
    else if (body instanceof FormData) body.append(name, value);
    else assert.fail(`The form has no file field ${name}.`);
  }
  return body;
}

/** All forms with `method="post"`. */
export function findForms(page: string): PageForm[] {
  return [...page.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)]
    .filter(([, attributes = '']) => readAttribute(attributes, 'method') === 'post')
    .map(([, attributes = '', content = '']) => ({
      action: readAttribute(attributes, 'action') ?? '',
      isMultipart: readAttribute(attributes, 'enctype') === 'multipart/form-data',
      names: new Set([...content.matchAll(/<(?:input|select|textarea|button)\b([^>]*)>/g)]
        .map(([, field = '']) => readAttribute(field, 'name') ?? '')),
      values: [...findValues(content)],
    }));
}

function* findValues(form: string): Generator<readonly [name: string, value: string]> {
  const control = /<input\b([^>]*)>|<(select|textarea)\b([^>]*)>(.*?)<\/\2>/gs;
  for (const [, input, tag, attributes = '', content = ''] of form.matchAll(control)) {
    const name = readAttribute(input ?? attributes, 'name');
    if (name === undefined) continue;
    if (input !== undefined) {
      const isChecked = /\schecked\b/.test(input);
      const type = readAttribute(input, 'type') ?? 'text';
      const isOmitted = /^(?:checkbox|radio)$/.test(type) ? !isChecked : type === 'file';
      if (!isOmitted) yield [name, readAttribute(input, 'value') ?? ''];
    } else if (tag === 'textarea') {
      yield [name, unescapeText(content).replace(/^\n/, '')];
    } else {
      const options = [...content.matchAll(/<option\b([^>]*)>/g)].map(([, option = '']) => option);
      const chosen = options.find((option) => /\sselected\b/.test(option)) ?? options[0];
      if (chosen !== undefined) yield [name, readAttribute(chosen, 'value') ?? ''];
    }
  }
}

function readAttribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : unescapeText(value);
}

const CHARACTERS: Readonly<Record<string, string>> = {
  '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'",
};

function unescapeText(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity] ?? '');
}
