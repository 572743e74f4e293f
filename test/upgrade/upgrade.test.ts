/**
 * This version opens a data folder that was recorded before, and its clients continue: retries with
 * an Idempotency-Key, cursors, forms, sessions, an unfinished sign-in, a draft, a webhook message
 * between two attempts. The clock is set to the time of the recording, so nothing expires.
 *
 * `make fixture` records `fixture/` (see record.ts). It proves that stored, hashed and signed names
 * have not changed since, so record it only when the schema or what is recorded changes, and after
 * the first release never again.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { checkDataFolder } from '../../src/store/sqlite/check/data-folder.ts';
import { showCode } from '../features/portal/sign-in/authenticator.ts';
import { findSigners, OK, type Receiver, startReceiver } from '../features/webhooks/receiver.ts';
import { type Clock, makeClock } from '../support/clock.ts';
import { makeFolder } from '../support/folder.ts';
import { send } from '../support/http.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { findUnused } from './every-table.ts';
import {
  type Exchange, readAnswer, readExpectations, toRequest, unpack,
} from './fixture.ts';

const expected = readExpectations();

describe('a recorded data folder', () => {
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown): void => void ends.unshift(end) };
  let clock: Clock;
  let receiver: Receiver;
  let server: TestServer;

  before(async () => {
    clock = makeClock(expected.at);
    receiver = await startReceiver(t, OK);
    const folder = unpack(join(makeFolder(t), 'data'));
    // The receiver has another port now.
    const db = new DatabaseSync(join(folder, 'catalogue.db'));
    db.prepare('UPDATE webhook SET url = replace(url, ?, ?)').run(...ports());
    db.close();
    server = await startServer(t, {
      folder, clock, portal: true,
      webhooks: { allowPrivate: true, allowHttp: true, random: () => 1 },
    });
  });

  after(async () => {
    for (const end of ends) await end();
  });

  const ports = (): [string, string] => [`:${expected.receiverPort}/`, `:${receiver.port}/`];

  /** The recorded answer, except that a list of webhooks names the current port. */
  const answerTo = ({ request, answer }: Exchange): Exchange['answer'] =>
    (request.method === 'GET' ? { ...answer, body: answer.body.replaceAll(...ports()) } : answer);

  async function assertSame(exchange: Exchange): Promise<void> {
    const answer = readAnswer(await send(server.port, toRequest(exchange.request)));
    assert.deepEqual(answer, answerTo(exchange), exchange.name);
  }

  test('has rows in every table, and in every column that may be NULL both', () => {
    using db = new DatabaseSync(join(server.folder, 'catalogue.db'), { readOnly: true });
    assert.deepEqual(findUnused(db), []);
  });

  for (const exchange of expected.retries) {
    test(`answers a retry from its record: ${exchange.name}`, () => assertSame(exchange));
  }

  test('rejects another request with an Idempotency-Key that was used before', async () => {
    const [created] = expected.retries;
    assert.ok(created?.request.body);
    const body = created.request.body.replace('Mug', 'Jug');
    const { status } = await send(server.port, toRequest({ ...created.request, body }));
    assert.equal(status, 422);
  });

  for (const exchange of expected.reads) {
    test(`follows a cursor, an ETag or a position: ${exchange.name}`, () => assertSame(exchange));
  }

  for (const { name, request, answer } of expected.forms) {
    test(`recognizes a form that was sent before: ${name}`, async () => {
      const { status, headers } = await send(server.port, toRequest(request));
      assert.equal(status, answer.status);
      assert.equal(pathOf(headers.location), pathOf(answer.headers['location']));
    });
  }

  test('has created nothing twice', async () => {
    for (const exchange of expected.totals) await assertSame(exchange);
  });

  test('shows its pages to a session from before, and follows their cursors', async () => {
    for (const { name, path, text } of expected.pages) {
      const page = await send(server.port, { path, headers: expected.signedIn });
      assert.equal(page.status, 200, name);
      assert.ok(page.text.includes(text), `${name}: ${text}`);
    }
  });

  test('accepts the one-time code of an unfinished sign-in', async () => {
    const { headers, csrf, secret } = expected.twoFactor;
    clock.now = expected.at + 30_000; // the previous code was used
    const body = new URLSearchParams({ csrf, code: showCode(secret, clock.now) }).toString();
    const path = '/portal/sign-in/code';
    const answer = await send(server.port, { method: 'POST', path, headers, body });
    assert.deepEqual([answer.status, answer.headers.location], [303, '/portal'], answer.text);
  });

  test('shows a draft after signing in with the password', async () => {
    const { headers, body, text } = expected.draft;
    const page = await send(server.port, {
      method: 'POST', path: '/portal/sign-in', headers, body,
    });
    assert.equal(page.status, 200);
    assert.ok(page.text.includes(text), page.text);
  });

  test('retries a message with its id, its body and both signatures', async () => {
    clock.now = expected.at + 60_000;
    await receiver.until((received) => received.some(({ path }) => path === '/failing'));
    const [message] = receiver.received.filter(({ path }) => path === '/failing');
    assert.ok(message);
    const { id, body, secrets } = expected.message;
    assert.deepEqual([message.id, message.text], [id, body]);
    assert.deepEqual(findSigners(message, secrets), secrets);
  });

  test('doctor finds no fault in the folder', async () => {
    const faults: unknown[] = [];
    for (const check of checkDataFolder(server.folder, clock.now)) faults.push(...check.find());
    assert.deepEqual(faults, []);
  });
});

/** The path without its query, whose notice may be worded differently. */
function pathOf(location: string | undefined): string | undefined {
  return location?.replace(/\?.*$/, '');
}
