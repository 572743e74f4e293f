/** The key file: created once and atomically, readable only by its owner; encryption with it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { hkdfSync } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { AtomicFile } from '../../../../src/store/sqlite/files/atomic-file.ts';
import { ServerKey } from '../../../../src/store/rules/server-key.ts';
import { findServerKey, openServerKey } from '../../../../src/store/sqlite/files/server-key.ts';
import { makeFolder } from '../../../support/folder.ts';
import { countTo, makeActor } from '../../contract/fixture.ts';
import { makeNewWebhook } from '../../contract/webhooks.ts';
import { openStore } from '../open.ts';
import { readMode } from '../engine/read-file.ts';

const BYTES = Buffer.alloc(32, 1);
const KEY = new ServerKey(BYTES);

test('creates the key file when it is first opened, readable only by its owner', (t) => {
  const folder = makeFolder(t);
  const before = process.umask(0);
  t.after(() => process.umask(before));
  writeFileSync(new AtomicFile(join(folder, 'server.key')).tempPath, 'cut off');
  assert.equal(findServerKey(folder), undefined);
  const sealed = openServerKey(folder).encrypt('secret', 'a');
  assert.deepEqual(readdirSync(folder), ['server.key']);
  assert.equal(readMode(join(folder, 'server.key')), '600');
  assert.equal(readFileSync(join(folder, 'server.key')).length, 32);
  assert.equal(openServerKey(folder).decrypt(sealed, 'a'), 'secret');
  assert.equal(findServerKey(folder)?.decrypt(sealed, 'a'), 'secret');
});

test('encrypts the same text differently each time', () => {
  assert.notDeepEqual(KEY.encrypt('secret', 'a'), KEY.encrypt('secret', 'a'));
});

test('decrypts nothing that was altered, truncated or encrypted for another purpose', () => {
  const sealed = KEY.encrypt('secret', 'one');
  assert.equal(KEY.decrypt(sealed, 'other'), undefined);
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed);
    altered[at] = (altered[at] ?? 0) ^ 1;
    assert.equal(KEY.decrypt(altered, 'one'), undefined, String(at));
    assert.equal(KEY.decrypt(sealed.subarray(0, at), 'one'), undefined, String(at));
  }
});

test('decrypts nothing with another key, and derives other keys from it', () => {
  const other = new ServerKey(Buffer.alloc(32, 2));
  assert.equal(other.decrypt(KEY.encrypt('secret', 'a'), 'a'), undefined);
  assert.notDeepEqual(other.derive('a', 32), KEY.derive('a', 32));
  assert.notDeepEqual(KEY.derive('b', 32), KEY.derive('a', 32));
  assert.deepEqual(KEY.derive('a', 32), new Uint8Array(hkdfSync('sha256', BYTES, '', 'a', 32)));
});

test('rejects an invalid key file, and opens no store with it', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'server.key'), 'short');
  const rejection = { code: 'unavailable', message: /server\.key.*not a key\. Put back/ };
  assert.throws(() => openServerKey(folder), rejection);
  assert.equal(findServerKey(folder), undefined);
  await assert.rejects(openStore(t, { folder }), rejection);
  assert.deepEqual(readdirSync(folder), ['server.key']);
});

test('reads the key once, when the store is opened, and writes nothing without it', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const sealed = await store.encrypt('secret', 'a');
  rmSync(join(folder, 'server.key'));
  mkdirSync(join(folder, 'server.key')); // to read it now would throw
  assert.equal(await store.decrypt(sealed, 'a'), 'secret');
  assert.equal(await store.decrypt(await store.encrypt('more', 'a'), 'a'), 'more');
  await assert.rejects(store.noteAuditEvent({
    sellerId: undefined, type: 'signed_out', address: '', subject: '',
  }), { code: 'unavailable', message: /moved, removed or replaced/ });
});

test('creates one key when several processes need it concurrently', async (t) => {
  const folder = makeFolder(t);
  const source = new URL('../../../../src/store/sqlite/files/server-key.ts', import.meta.url);
  const program = `const { openServerKey } = await import('${source}');
    console.log(openServerKey('${folder}').encrypt('secret', 'a').toString('base64'));`;
  const seals = await Promise.all(countTo(6).map(async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath, ['--input-type=module', '--eval', program],
    );
    return Buffer.from(stdout, 'base64');
  }));
  const key = openServerKey(folder);
  assert.deepEqual(seals.map((sealed) => key.decrypt(sealed, 'a')), Array(6).fill('secret'));
  assert.deepEqual(readdirSync(folder), ['server.key']);
});

test('rotates a secret that can no longer be decrypted', async (t) => {
  const folder = makeFolder(t);
  const first = await openStore(t, { folder });
  const actor = await makeActor(first);
  const write = { ...actor, idempotency: { key: 'k', part: 0 } };
  const { webhook } = await first.createWebhook(write, makeNewWebhook());
  await first.close();
  rmSync(join(folder, 'server.key'));
  const store = await openStore(t, { folder });
  assert.equal(await store.findWebhookSecrets(webhook), undefined);
  await assert.rejects(store.createWebhook(write, makeNewWebhook()), {
    code: 'unavailable', message: /Rotate the secret/,
  });
  const { secret } = await store.rotateWebhookSecret(actor, webhook.id, 60_000);
  assert.deepEqual(await store.findWebhookSecrets(webhook), [secret]);
});

test('keeps webhook secrets out of the bytes of the database', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  const write = { ...actor, idempotency: { key: 'k', part: 0 } };
  const { webhook, secret } = await store.createWebhook(write, makeNewWebhook());
  const rotated = await store.rotateWebhookSecret(actor, webhook.id, 60_000);
  const key = readFileSync(join(folder, 'server.key'));
  for (const name of readdirSync(folder).filter((file) => file !== 'server.key')) {
    const bytes = readFileSync(join(folder, name));
    assert.ok(!bytes.includes(key), name);
    for (const text of [secret, rotated.secret]) {
      assert.ok(!bytes.includes(text.slice(6)), name);
      assert.ok(!bytes.includes(Buffer.from(text.slice(6), 'base64')), name);
    }
  }
});
