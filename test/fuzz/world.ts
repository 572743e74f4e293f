/**
 * A server process with two sellers: one who sends all requests, and a silent one whose data has
 * markers that the other never sends and must never see.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { generateApiKey, parseNewApiKey, toStoredSecret } from '../../src/domain/access/api-key.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { SellerId } from '../../src/domain/id.ts';
import { makeCsrfToken } from '../../src/features/portal/forms/csrf.ts';
import { formatSessionToken, startSession } from '../../src/features/portal/sign-in/session.ts';
import type { Json } from '../features/openapi/json-schema.ts';
import { openShop, type Shop } from '../features/portal/page-client.ts';
import { type Serving, startServing } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { send } from '../support/http.ts';
import { Pool } from './pool.ts';
import { Watch } from './watch.ts';
import { ownerOf } from '../support/owner.ts';

type Context = Pick<TestContext, 'after'>;

export interface World {
  readonly serving: Serving;
  readonly folder: string;
  readonly document: Json;
  readonly pool: Pool;
  readonly watch: Watch;
  /** Keys of the requesting seller: one with all scopes; others limited or expired. */
  readonly keys: [whole: string, ...others: string[]];
  readonly password: string;
  readonly silent: { readonly sellerId: SellerId; readonly marks: readonly string[] };
  /** The cookie of the portal and the token of its forms. */
  readonly session: { cookie: string; csrf: string };
  /** Signs in again, after a session is rate limited or has ended. */
  renewSession(): Promise<void>;
  /** Creates another key with all scopes, after the portal revoked the last one. */
  renewKey(): Promise<void>;
  /** What the server has written to its log since it started. */
  log(): string;
}

/** Starts the server, and fills both shops by API requests; ends with `t`. */
export async function makeWorld(t: Context): Promise<World> {
  const base = makeFolder(t);
  const [folder, tokenFile] = [join(base, 'data'), join(base, 'token')];
  writeFileSync(tokenFile, randomBytes(24).toString('hex'), { mode: 0o600 });
  const serving = await startServing(t, [
    '--data', folder, '--rate-limit', '0', '--open-registration', '--webhook-allow-private',
    '--webhook-allow-http', '--metrics-token-file', tokenFile,
    '--trusted-proxies', '127.0.0.0/8',
  ]);
  const store = await openSqliteStore({ folder });
  t.after(() => store.close());
  const { port } = serving;
  const mark = `qzb${randomBytes(6).toString('hex')}`;
  const silent = await openShop({ port, store }, { name: mark, email: `${mark}@shop.example` });
  const own = await openShop({ port, store });
  const pool = new Pool();
  const others = await makeKeys(store, own.sellerId, OTHER_KEYS);
  await fill(silent, mark);
  await makeKeys(store, silent.sellerId, [{ name: mark }]);
  for (const path of FOREIGN_LISTS) {
    const { text } = await silent.send({ path });
    for (const [id] of text.matchAll(/\b(?:prd|whk)_[0-9a-v]+/g)) pool.add('foreign', id);
    for (const [, it = ''] of text.matchAll(/"next_cursor":"([^"]+)"/g)) pool.add('foreign', it);
  }
  await fill(own, 'own');
  const watch = new Watch(folder);
  t.after(() => watch.close());
  const session = { cookie: '', csrf: '' };
  async function renewSession(): Promise<void> {
    const account = await store.findAccount(ownerOf(own.sellerId));
    const shown = await store.findCredentials(account?.email ?? '');
    if (!shown) throw new Error('the account is gone');
    const { session: begun, secret } = startSession('127.0.0.1', 'fuzz');
    if (!await store.createSession(shown, begun)) throw new Error('not signed in');
    const { token, cookie } = formatSessionToken(own.sellerId, secret);
    session.cookie = cookie.split(';')[0] ?? '';
    session.csrf = makeCsrfToken(token);
  }
  await renewSession();
  const keys: World['keys'] = [own.key, ...others];
  async function renewKey(): Promise<void> {
    [keys[0] = ''] = await makeKeys(store, own.sellerId, [{}]);
  }
  const document = (await send(port, { path: '/api/v1/openapi.json' })).json() as Json;
  const secrets = [silent.key, silent.email, silent.password];
  return {
    serving, folder, document, pool, watch, keys, session, renewSession, renewKey,
    password: own.password,
    silent: { sellerId: silent.sellerId, marks: [mark, ...secrets] },
    log: () => serving.notes(),
  };
}

const FOREIGN_LISTS = [
  '/api/v1/products?limit=3', '/api/v1/products?limit=5&sort=-price', '/api/v1/webhooks?limit=1',
  '/api/v1/stock?limit=2', '/api/v1/products?limit=1&at=2', '/api/v1/stock/movements?limit=2',
];

type KeyOptions = Partial<Parameters<typeof parseNewApiKey>[0]>;

const OTHER_KEYS: readonly KeyOptions[] = [
  { scopes: ['products:read'] }, { scopes: ['stock:write', 'changes:read'] },
  { expiresAt: 1 }, { addressRanges: ['192.0.2.1'] },
];

async function makeKeys(
  store: Awaited<ReturnType<typeof openSqliteStore>>, sellerId: SellerId,
  wanted: readonly KeyOptions[],
): Promise<string[]> {
  const made: string[] = [];
  for (const options of wanted) {
    const key = generateApiKey();
    const asked = { name: 'fuzz', scopes: [], addressRanges: [], expiresAt: undefined, ...options };
    await store.createKey(sellerId, toStoredSecret(key), parseNewApiKey(asked));
    made.push(key);
  }
  return made;
}

/** Products, stock changes, and a webhook that sends nothing. */
async function fill({ send: ask, user }: Shop, mark: string): Promise<void> {
  const json = { 'content-type': 'application/json' };
  const rows = Array.from({ length: 12 }, (_, n) => JSON.stringify({
    name: `${mark} name ${n}`, category: `${mark} category ${n % 3}`, sku: `${mark}-${n}`,
    price: n + 0.5, stock: n,
  }));
  const changes = [{ sku: `${mark}-1`, adjust: 4, reason: `${mark} reason` }];
  const url = `http://127.0.0.1:9/${mark}`;
  for (const [method, path, headers, body] of [
    ['POST', '/products/import', { 'content-type': 'application/x-ndjson' }, rows.join('\n')],
    ['POST', '/stock', json, JSON.stringify({ changes, source: `${mark} source` })],
    ['DELETE', `/products/sku/${mark}-11`, {}, undefined],
    ['POST', '/webhooks', json, JSON.stringify({ url, description: mark })],
    ['POST', '/webhooks', json, JSON.stringify({ url: `${url}/2`, description: mark })],
  ] as const) {
    const path1 = `/api/v1${path}`;
    const answer = await ask({ method, path: path1, headers, ...(body !== undefined && { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    const { id = '' } = path === '/webhooks' ? answer.json() : {};
    if (id !== '') {
      const patch = { method: 'PATCH', path: `${path1}/${id}`, headers: json };
      await ask({ ...patch, body: '{"status":"disabled"}' });
    }
  }
  await user.get('/portal');
}
