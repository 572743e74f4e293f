/** Uploads of any length are never in memory as a whole; interrupted ones leave nothing behind. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { CONCURRENT_UPLOADS_PER_SELLER_LIMIT } from '../../../../src/features/portal/limits.ts';
import type { AccountReference } from '../../../../src/domain/access/account.ts';
import type { Store } from '../../../../src/store/store.ts';
import { countTo } from '../../../store/contract/fixture.ts';
import { makeFolder } from '../../../support/folder.ts';
import { startServer, type TestServer } from '../../../support/server.ts';
import { addColleague } from '../colleague.ts';
import { HEADER, makeRows } from './setup.ts';
import { openShop, type PageClient, readText } from '../page-client.ts';

const BOUNDARY = 'xxxxxxxx';
const SENT_MIB = 160;

async function open(t: TestContext) {
  const uploadFolder = join(makeFolder(t), 'uploads');
  const server = await startServer(t, { portal: { uploadFolder } });
  const shop = await openShop(server);
  return { ...shop, server, uploadFolder, ...await prepare(server, shop.user) };
}

/** How this user uploads a file piece by piece. */
async function prepare(server: TestServer, user: PageClient) {
  await user.get('/portal/import');
  const csrf = user.valueOf('csrf') ?? '';
  const cookie = user.formatCookies();
  const head = [
    `--${BOUNDARY}`, 'Content-Disposition: form-data; name="csrf"', '', csrf,
    `--${BOUNDARY}`, 'Content-Disposition: form-data; name="file"; filename="long.csv"', '', '',
  ].join('\r\n');
  const begin = (headers = {}) => {
    const outgoing = request({
      host: '127.0.0.1', port: server.port, method: 'POST', path: '/portal/import', agent: false,
      headers: {
        cookie, 'sec-fetch-site': 'same-origin',
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`, ...headers,
      },
    });
    outgoing.on('error', () => {}); // some are destroyed below
    return outgoing;
  };
  return { head, begin };
}

test('streams a long file to disk, without a name in its folder', async (t) => {
  const { begin, head, user, uploadFolder } = await open(t);
  const outgoing = begin();
  outgoing.write(head + HEADER);
  const answered = once(outgoing, 'response');
  const chunk = Buffer.from(',,,,\n'.repeat(200_000)); // a megabyte of blank rows
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  for (const _ of countTo(SENT_MIB)) {
    if (!outgoing.write(chunk)) await once(outgoing, 'drain');
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }
  assert.deepEqual(readdirSync(uploadFolder), []);
  outgoing.end(`${makeRows(1)}\r\n--${BOUNDARY}--\r\n`);
  const [response] = await answered;
  assert.equal(response.statusCode, 303);
  // Unused buffers are not freed at once.
  assert.ok(most - before < SENT_MIB / 2 * 1024 * 1024, `${most - before} bytes`);
  const page = await user.get(response.headers.location);
  assert.match(readText(page.text), /long\.csv/);
});

test('keeps nothing of an interrupted upload, and frees its slot', async (t) => {
  const { begin, head, user, server } = await open(t);
  for (const _ of countTo(CONCURRENT_UPLOADS_PER_SELLER_LIMIT + 1)) {
    const outgoing = begin({ 'content-length': 1_000_000 });
    outgoing.write(head + HEADER);
    await new Promise((resolve) => outgoing.write(makeRows(100), resolve));
    outgoing.destroy();
  }
  let page = await user.get('/portal/import');
  for (;;) {
    page = await user.submit({ file: new File([HEADER + makeRows(1)], 'a.csv') });
    if (page.status === 303) break; // an interrupted upload has freed its slot
    page = await user.get('/portal/import');
  }
  page = await user.get('/portal/import');
  assert.doesNotMatch(page.text, /long\.csv/);
  assert.deepEqual(server.reports, []);
});

test('rejects a truncated form', async (t) => {
  const { begin, head, user } = await open(t);
  const outgoing = begin();
  outgoing.end(head + HEADER + makeRows(1));
  const [response] = await once(outgoing, 'response');
  assert.equal(response.statusCode, 422);
  const page = await user.get('/portal/import');
  assert.match(readText(page.text), /No uploads in the last 24 hours/);
});

const REVOCATIONS: Readonly<Record<
  string, (store: Store, account: AccountReference) => Promise<unknown>
>> = {
  'becomes a viewer': (store, account) => store.setRole(account, 'viewer', {}),
  'is removed': (store, account) => store.removeAccount(account, {}),
};

for (const [how, revoke] of Object.entries(REVOCATIONS)) {
  test(`rejects an upload in flight of an editor who ${how}`, async (t) => {
    const { sellerId, server, uploadFolder } = await open(t);
    const { user, account } = await addColleague(server, { sellerId }, 'editor');
    const { begin, head } = await prepare(server, user);
    const sessions = t.mock.method(server.store, 'findSignedInSession').mock;
    const outgoing = begin();
    outgoing.write(head + HEADER + makeRows(1));
    while (sessions.callCount() === 0) await turn();
    await turn();
    await revoke(server.store, account);
    const answered = once(outgoing, 'response');
    outgoing.end(`${makeRows(1)}\r\n--${BOUNDARY}--\r\n`);
    const [response] = await answered as [IncomingMessage];
    assert.equal(response.statusCode, 403);
    assert.match(readText(await text(response)), /session has ended|role has changed/);
    assert.deepEqual(readdirSync(uploadFolder), []);
  });
}
