/** The key file: made whole and once, closed to others, and what it seals stays shut without it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ServerKey } from '../../../src/store/sqlite/server-key.ts';
import { makeFolder } from '../../support/folder.ts';
import { countTo, makeAuthor } from '../contract/fixture.ts';
import { makeNewWebhook } from '../contract/webhooks.ts';
import { openStore } from './open.ts';
import { readMode } from './read-file.ts';

test('makes the key file when it is first needed, for its owner alone', (t) => {
  const folder = makeFolder(t);
  const before = process.umask(0);
  t.after(() => process.umask(before));
  writeFileSync(join(folder, `server.key.${process.pid}.new`), 'cut off');
  const key = new ServerKey(folder);
  assert.equal(key.open(Buffer.alloc(40), 'a'), undefined);
  const sealed = key.seal('secret', 'a');
  assert.deepEqual(readdirSync(folder), ['server.key']);
  assert.equal(readMode(join(folder, 'server.key')), '600');
  assert.equal(readFileSync(join(folder, 'server.key')).length, 32);
  assert.equal(key.open(sealed, 'a'), 'secret');
  assert.equal(new ServerKey(folder).open(sealed, 'a'), 'secret');
});

test('seals the same text differently each time', (t) => {
  const key = new ServerKey(makeFolder(t));
  assert.notDeepEqual(key.seal('secret', 'a'), key.seal('secret', 'a'));
});

test('opens nothing that was altered, cut or sealed for something else', (t) => {
  const key = new ServerKey(makeFolder(t));
  const sealed = key.seal('secret', 'one');
  assert.equal(key.open(sealed, 'other'), undefined);
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed);
    altered[at] = (altered[at] ?? 0) ^ 1;
    assert.equal(key.open(altered, 'one'), undefined, String(at));
    assert.equal(key.open(sealed.subarray(0, at), 'one'), undefined, String(at));
  }
});

test('opens nothing with another key, and says what a broken key file is', (t) => {
  const folder = makeFolder(t);
  const key = new ServerKey(folder);
  const sealed = key.seal('secret', 'a');
  const file = join(folder, 'server.key');
  rmSync(file);
  assert.equal(key.open(sealed, 'a'), undefined);
  key.seal('other', 'a');
  assert.equal(key.open(sealed, 'a'), undefined);
  writeFileSync(file, 'short');
  assert.equal(key.open(sealed, 'a'), undefined);
  assert.throws(() => key.seal('x', 'a'), { code: 'unavailable', message: /server\.key.*no key/ });
});

test('makes one key where several processes need the first one at once', async (t) => {
  const folder = makeFolder(t);
  const source = new URL('../../../src/store/sqlite/server-key.ts', import.meta.url);
  const program = `const { ServerKey } = await import('${source}');
    console.log(new ServerKey('${folder}').seal('secret', 'a').toString('base64'));`;
  const seals = await Promise.all(countTo(6).map(async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath, ['--input-type=module', '--eval', program],
    );
    return Buffer.from(stdout, 'base64');
  }));
  const key = new ServerKey(folder);
  assert.deepEqual(seals.map((sealed) => key.open(sealed, 'a')), Array(6).fill('secret'));
  assert.deepEqual(readdirSync(folder), ['server.key']);
});

test('lets a secret be rotated that cannot be read any more', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const author = await makeAuthor(store);
  const write = { ...author, idempotency: { key: 'k', part: 0 } };
  const { webhook } = await store.createWebhook(write, makeNewWebhook());
  rmSync(join(folder, 'server.key'));
  assert.equal(await store.findWebhookSecrets(webhook), undefined);
  await assert.rejects(store.createWebhook(write, makeNewWebhook()), {
    code: 'unavailable', message: /Rotate the secret/,
  });
  const { secret } = await store.rotateWebhookSecret(author, webhook.id, 60_000);
  assert.deepEqual(await store.findWebhookSecrets(webhook), [secret]);
});

test('keeps the secrets of webhooks out of the bytes of the database', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const author = await makeAuthor(store);
  const write = { ...author, idempotency: { key: 'k', part: 0 } };
  const { webhook, secret } = await store.createWebhook(write, makeNewWebhook());
  const rotated = await store.rotateWebhookSecret(author, webhook.id, 60_000);
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
