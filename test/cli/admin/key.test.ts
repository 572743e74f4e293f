/** `key create|list|rotate|revoke`, as a user types them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { createKey, createSeller } from '../setup.ts';

const SECRET = /^spk_[0-9A-Za-z]{36}$/;
const ID = /^key_[0-9a-v]{22}$/;
const ALL_SCOPES = [
  'products:read', 'products:write', 'prices:write', 'stock:write', 'changes:read',
  'webhooks:write',
];
const DAY_MS = 24 * 60 * 60 * 1000;

test('creates a key for the only seller, with only its secret on standard output', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const { status, out, notes } = await run(['key', 'create', '--name', 'Desk', '--data', folder]);
  assert.equal(status, 0, notes);
  assert.match(out.trimEnd(), SECRET);
  assert.match(notes, /key_[0-9a-v]{22} \(Desk\).*not shown again/);
  assert.ok(!notes.includes(out.trimEnd()));
  for (const name of readdirSync(folder)) {
    assert.ok(!readFileSync(join(folder, name), 'latin1').includes(out.trimEnd()), name);
  }
});

test('creates a key with all scopes, from any address and without expiry by default', async (t) => {
  const folder = makeFolder(t);
  const seller = await createSeller(folder);
  const { key, id, created_at: createdAt, last_four: lastFour, ...rest } = JSON.parse(
    (await run(['key', 'create', '--name', 'Desk', '--data', folder, '--json'])).out,
  );
  assert.match(key, SECRET);
  assert.match(id, ID);
  assert.equal(lastFour, key.slice(-4));
  assert.ok(Math.abs(Date.now() - Date.parse(createdAt)) < 60_000);
  assert.deepEqual(rest, {
    seller, name: 'Desk', scopes: ALL_SCOPES, allow: [], expires_at: null,
    rate_limit_per_minute: null, revoked_at: null, last_used_at: null, last_used_address: null,
  });
});

test('creates a key with the requested scopes, lifetime, addresses and rate', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const flags = [
    '--scopes', 'stock:write, products:read', '--expires', '90d',
    '--allow', '192.0.2.0/24,2001:db8::/32,198.51.100.7', '--rate-limit', '60',
  ];
  await createKey(folder, flags);
  const list = await run(['key', 'list', '--data', folder, '--json']);
  const { keys: [key] } = JSON.parse(list.out);
  assert.deepEqual(key.scopes, ['products:read', 'stock:write']);
  assert.deepEqual(key.allow, ['192.0.2.0/24', '2001:db8::/32', '198.51.100.7/32']);
  assert.equal(key.rate_limit_per_minute, 60);
  const lifeMs = Date.parse(key.expires_at) - Date.parse(key.created_at);
  assert.ok(Math.abs(lifeMs - 90 * DAY_MS) < 60_000);
});

test('lists the keys of a seller, and never a secret or its hash', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const [empty, first, second] = [
    await run(['key', 'list', '--data', folder]), await createKey(folder), await createKey(folder),
  ];
  assert.deepEqual([empty.status, empty.out], [0, '']);
  assert.match(empty.notes, /key create/);
  const json = await run(['key', 'list', '--data', folder, '--json']);
  const table = await run(['key', 'list', '--data', folder]);
  const { keys } = JSON.parse(json.out);
  assert.deepEqual(keys.map(({ id }: { id: string }) => id), [first.id, second.id]);
  const [header, ...lines] = table.out.trimEnd().split('\n');
  assert.match(header ?? '',
    /^id +seller +name +last_four +scopes +allow +created_at +expires_at +rate_limit_per_minute /);
  assert.deepEqual(lines.map((line) => line.split(' ')[0]), [first.id, second.id]);
  for (const { out, notes } of [json, table]) {
    assert.ok(!(out + notes).includes(first.key));
    assert.doesNotMatch(out, /spk_|[0-9a-f]{64}/);
  }
});

test('rotates a key: the new one works immediately, the old one during the overlap', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const old = await createKey(folder, ['--scopes', 'products:read']);
  const args = ['key', 'rotate', old.id, '--overlap', '2h', '--data', folder, '--json'];
  const made = JSON.parse((await run(args)).out);
  assert.match(made.key, SECRET);
  assert.notEqual(made.key, old.key);
  assert.notEqual(made.id, old.id);
  assert.deepEqual([made.name, made.scopes, made.expires_at], ['test', ['products:read'], null]);
  const { keys } = JSON.parse((await run(['key', 'list', '--data', folder, '--json'])).out);
  const endsInMs = Date.parse(keys[0].expires_at) - Date.parse(made.created_at);
  assert.deepEqual([keys[0].id, endsInMs], [old.id, 2 * 60 * 60 * 1000]);
  assert.deepEqual(
    [keys[0].last_four, keys[1].last_four], [old.key.slice(-4), made.key.slice(-4)],
  );
});

test('rotates a key with an overlap of a day by default', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const old = await createKey(folder);
  const { status, out, notes } = await run(['key', 'rotate', old.id, '--data', folder]);
  assert.equal(status, 0, notes);
  assert.match(out.trimEnd(), SECRET);
  assert.match(notes, new RegExp(`replaces ${old.id}, which expires within 24h`));
  const { keys } = JSON.parse((await run(['key', 'list', '--data', folder, '--json'])).out);
  assert.equal(Date.parse(keys[0].expires_at) - Date.parse(keys[1].created_at), DAY_MS);
});

test('revokes a key; a second time changes nothing', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const { id } = await createKey(folder);
  const first = await run(['key', 'revoke', id, '--data', folder]);
  assert.deepEqual([first.status, first.out], [0, `Revoked key ${id}.\n`]);
  const { keys } = JSON.parse((await run(['key', 'list', '--data', folder, '--json'])).out);
  assert.ok(Math.abs(Date.now() - Date.parse(keys[0].revoked_at)) < 60_000);
  const second = await run(['key', 'revoke', id, '--data', folder, '--json']);
  assert.deepEqual([second.status, JSON.parse(second.out)], [0, keys[0]]);
});

test('asks for the seller if there are several', async (t) => {
  const folder = makeFolder(t);
  const [one, other] = [await createSeller(folder, 'One'), await createSeller(folder, 'Other')];
  const refused = [
    await run(['key', 'create', '--name', 'x', '--data', folder]),
    await run(['key', 'list', '--data', folder]),
  ];
  for (const { status, out, notes } of refused) {
    assert.deepEqual([status, out], [2, '']);
    assert.match(notes, /--seller ID/);
  }
  const { id } = await createKey(folder, ['--seller', other]);
  const lists = await Array.fromAsync([one, other], (seller) =>
    run(['key', 'list', '--seller', seller, '--data', folder, '--json']));
  const ids = lists.map(({ out }) => JSON.parse(out).keys.map((key: { id: string }) => key.id));
  assert.deepEqual(ids, [[], [id]]);
});
