/**
 * Canaries: secrets that the server receives or creates in every possible way. None may appear, in
 * any encoding, in a response, a file, the log, the metrics or the process's arguments.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { run, startServing } from '../support/command.ts';
import { routes } from '../../src/features/portal/routes.ts';
import { makeFolder } from '../support/folder.ts';
import { type Answer, type Request, send } from '../support/http.ts';
import { findSecrets } from './encodings.ts';
import { live } from './life.ts';

/** The bytes to search, by place. */
type Places = Map<string, Buffer>;

/** Starts a server that logs at the debug level, and runs the scenario against it. */
async function prepare(t: TestContext) {
  const base = makeFolder(t);
  const [folder, temporary] = [join(base, 'data'), join(base, 'temporary')];
  mkdirSync(temporary);
  const environment = { TMPDIR: temporary };
  const [tokenFile, token] = [join(base, 'token'), randomBytes(24).toString('base64url')];
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const serving = await startServing(t, [
    '--data', folder, '--log', 'debug', '--webhook-allow-private', '--webhook-allow-http',
    '--metrics-token-file', tokenFile,
  ], environment);
  let out = '';
  serving.child.stdout?.on('data', (chunk: Buffer) => { out += String(chunk); });
  // The code for the first shop is printed when the server starts, and is not used here.
  const started = serving.notes().length;
  const scenario = await live(t, serving, folder);
  const canaries = new Map([...scenario.canaries, ['metrics token', token]]);
  canaries.set('server.key', readFileSync(join(folder, 'server.key')).toString('hex'));
  const log = () => Buffer.from(serving.notes().slice(started) + out);
  return { base, folder, temporary, serving, scenario, canaries, log, token };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

/** Asserts that no place contains a canary. */
function assertNoSecrets(canaries: ReadonlyMap<string, string>, places: Places): void {
  const found = [...places].flatMap(([place, bytes]) =>
    findSecrets(bytes, canaries).map((what) => `${place} has the ${what}`));
  assert.deepEqual(found, []);
}

function readFolder(folder: string): Places {
  const places: Places = new Map();
  for (const name of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(name.parentPath, name.name);
    if (name.isFile() && name.name !== 'server.key') places.set(path, readFileSync(path));
  }
  return places;
}

/** Requests with a secret in the wrong place. */
function misplace(secret: string): Request[] {
  const path = '/api/v1/products';
  const json = { 'content-type': 'application/json' };
  const encoded = encodeURIComponent(secret);
  return [
    { path: `/${encoded}` }, { path: `/api/v1/products/${encoded}` },
    { path: `/portal/${encoded}` }, { path: `/portal/sign-in?to=/${encoded}` },
    { path: `${path}?limit=${encoded}` }, { path: `${path}?cursor=${encoded}` },
    { path: `${path}?q=${encoded}` }, { path: `/portal/products?q=${encoded}` },
    ...['authorization', 'x-api-key', 'cookie', 'user-agent', 'referer', 'origin', 'accept',
      'if-match', 'idempotency-key', 'traceparent', 'x-request-id', 'forwarded', 'last-event-id',
      'accept-language', 'content-type', 'expect',
    ].map((name) => ({ path, headers: { [name]: secret } })),
    { method: 'POST', path, headers: json, body: `{"name":"${secret}"` },
    { method: 'POST', path, headers: json, body: JSON.stringify({ [secret]: secret }) },
    { method: 'POST', path: '/portal/sign-in', body: `email=${encoded}&password=${encoded}` },
  ];
}

/** Changes with a secret as Idempotency-Key, and a retry of one. */
async function sendAsIdempotencyKeys(
  { port }: { port: number }, key: string, canaries: ReadonlyMap<string, string>,
): Promise<void> {
  const sendChange = (secret: string, n: number): Promise<Answer> => send(port, {
    method: 'POST', path: '/api/v1/products', body: JSON.stringify({
      name: 'Canary', category: 'Birds', sku: `CANARY-${n}`, price: 1, stock: 1,
    }),
    headers: {
      'content-type': 'application/json', 'x-api-key': key,
      'idempotency-key': JSON.stringify(secret),
    },
  });
  for (const [n, secret] of [...new Set(canaries.values())].entries()) {
    assert.equal((await sendChange(secret, n)).status, 201, `canary ${n}`);
    const again = await sendChange(secret, n);
    assert.equal(again.headers['idempotent-replay'], 'true');
  }
}

/** The sender knows the secret; what matters is what the server stores and logs. */
async function sendMisplaced(
  { port }: { port: number }, key: string, canaries: ReadonlyMap<string, string>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const secret of canaries.values()) {
    answers.push(...await Promise.all(misplace(secret).map(({ headers, ...request }) =>
      send(port, { ...request, headers: { 'x-api-key': key, ...headers } }))));
  }
  return answers;
}

test('keeps secrets out of responses, logs and files', async (t) => {
  const prepared = await prepare(t);
  assert.ok(prepared.canaries.size > 25, [...prepared.canaries.keys()].join());
  await t.test('shows none in errors, in URLs, or on other pages', () =>
    assertNotInResponses(prepared));
  await t.test('writes none to its log, metrics, files, backups or command line', () =>
    assertNotStoredOrLogged(prepared));
});

async function assertNotInResponses({ serving, scenario, canaries }: Prepared): Promise<void> {
  const { visitor, key } = scenario;
  const places: Places = new Map([['addresses', Buffer.from(scenario.addresses.join('\n'))]]);
  const note = (context: string, { headers, text }: Answer): void => {
    const { 'set-cookie': _, ...shown } = headers;
    places.set(`${context} ${places.size}`, Buffer.from(JSON.stringify(shown) + text));
  };
  for (const [context, answer] of scenario.answers) note(context, answer);
  for (const path of ['products', 'webhooks', 'stock', 'stock/movements', 'changes']) {
    note(path, await send(serving.port, {
      path: `/api/v1/${path}`, headers: { 'x-api-key': key },
    }));
  }
  const [id = ''] = /whk_\w+/.exec([...places.values()].join()) ?? [];
  note('a webhook', await send(serving.port, {
    path: `/api/v1/webhooks/${id}`, headers: { 'x-api-key': key },
  }));
  let pages = 0;
  for (const { method, path } of routes) {
    if (method !== 'GET' || path === '/live' || path.includes('{')) continue;
    const answer = await visitor.get(`/portal${path}`.replace(/\/$/, ''));
    assert.equal(answer.headers['referrer-policy'] ?? 'no-referrer', 'no-referrer', path);
    note(`GET ${path}`, answer);
    pages += 1;
  }
  for (const path of [`/webhooks/${id}`, `/webhooks/${id}/edit`]) {
    note(path, await visitor.get(`/portal${path}`));
  }
  assert.ok(pages > 20 && id !== '', String(pages));
  // Each form has the token of its own browser.
  const others = [...canaries].filter(([name]) => !name.startsWith('CSRF'));
  assertNoSecrets(new Map(others), places);
}

async function assertNotStoredOrLogged(
  { base, folder, temporary, serving, scenario, canaries, log, token }: Prepared,
): Promise<void> {
  const misplaced = await sendMisplaced(serving, scenario.key, canaries);
  assert.ok(misplaced.every(({ status }) => status < 500));
  await sendAsIdempotencyKeys(serving, scenario.key, canaries);
  const backup = join(base, 'copy.db');
  const backedUp = await run(['backup', backup, '--data', folder]);
  assert.equal(backedUp.status, 0, backedUp.notes);
  const printed = await runClients(serving.url, scenario.key, base);
  const authorization = `Bearer ${token}`;
  const metrics = await send(serving.port, { path: '/metrics', headers: { authorization } });
  assert.equal(metrics.status, 200);
  const places: Places = new Map([
    ['metrics', Buffer.from(metrics.text)], ...readFolder(folder), ...readFolder(temporary),
    ['backup', readFileSync(backup)],
    ['output of backup', Buffer.from(backedUp.out + backedUp.notes)],
    ['output of the client commands', Buffer.from(printed)],
    ['deliveries', Buffer.from(scenario.deliveries.join('\n'))],
  ]);
  if (process.platform === 'linux') {
    for (const name of ['cmdline', 'environ']) {
      places.set(name, readFileSync(`/proc/${serving.child.pid}/${name}`));
    }
  }
  assert.equal(await serving.stop('SIGTERM'), 0);
  places.set('log', log());
  for (const [path, bytes] of readFolder(folder)) places.set(`${path} after shutdown`, bytes);
  for (const name of ['catalogue.db', 'catalogue.db-wal', 'search.db']) {
    assert.ok([...places.keys()].some((path) => path.endsWith(name)), `${name} was not searched`);
  }
  assert.match(log().toString(), /"route":"\/api\/v1\/products"/);
  assertNoSecrets(canaries, places);
  for (const code of scenario.codes) {
    assert.doesNotMatch(log().toString(), new RegExp(`\\b${code}\\b`));
  }
}

/** The output of client commands that read the key from a profile. */
async function runClients(url: string, key: string, home: string): Promise<string> {
  const environment = { XDG_CONFIG_HOME: home, SELLER_API_PROFILE: 'shop' };
  const added = await run(['profile', 'add', 'shop', '--url', url], environment, key);
  assert.equal(added.status, 0, added.notes);
  const finished = await Promise.all([
    ['profile', 'list'], ['profile', 'add', 'shop'], ['status'], ['products', 'list'],
    ['products', 'get', 'none'], ['stock', 'set', 'sku-1', '5'], ['webhook', 'list'],
    ['changes', 'tail', '--types', 'none'], ['open', '--print'],
  ].map((args) => run([...args, '--json'], environment)));
  assert.ok(finished.some(({ out }) => out.includes('"position"')));
  return [added, ...finished].map(({ out, notes }) => out + notes).join('\n');
}

test('detects a secret in any encoding', () => {
  const key = 'spk_0123456789abcdefghijABCDEFGHIJ012345';
  const token = Buffer.alloc(32, 7).toString('base64url');
  for (const [secret, text] of [
    [key, `x${key}y`], [key, Buffer.from(`?${key}!`).toString('base64')],
    [key, Buffer.from(`??${key}`).toString('base64url')], [key, Buffer.from(key).toString('hex')],
    [key, Buffer.from(key).toString('hex').toUpperCase()], [key, key.toUpperCase()],
    ['a b c d e f g', 'p=a+b+c+d+e+f+g&'], ['a b c d e f g', 'a%20b%20c%20d%20e%20f%20g'],
    ['abcd-efgh-ijkl', 'abcdefghijkl'], ['"a secret text"', '{"x":"\\"a secret text\\""}'],
    [token, Buffer.alloc(32, 7).toString('latin1')],
    [`whsec_${Buffer.alloc(32, 9).toString('base64')}`, Buffer.alloc(32, 9).toString('hex')],
    ['AEBA GBAF AYDQ QCIK BMGA 2DQP CAIR EEYU', '0102030405060708090a0b0c0d0e0f1011121314'],
    [key, Buffer.from(key, 'utf16le').toString('latin1')],
  ] as const) {
    const secrets = new Map([['canary', secret]]);
    assert.equal(findSecrets(Buffer.from(text, 'latin1'), secrets).length, 1, text);
    assert.deepEqual(findSecrets(Buffer.from('x'.repeat(500)), secrets), []);
  }
});
