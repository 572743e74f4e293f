/** `seller invite`, as a user types it, and what its code can be used for. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { INVITATION_CODE_LIFE_MS } from '../../../src/domain/limits.ts';
import { hashCode } from '../../../src/domain/access/human-code.ts';
import { formatSellerId, parseSellerId, type SellerId } from '../../../src/domain/id.ts';
import { makeFolder } from '../../support/folder.ts';
import { run } from '../../support/command.ts';
import { join as joinPortal, listTypes, makeJoining } from '../../store/contract/portal-fixture.ts';
import { createSeller, look } from '../setup.ts';

const CODE = /^(?:[0-9A-HJKMNP-TV-Z]{4}(?:-(?!\n)|\n)){4}$/;

test('prints only the code on standard output, and says where to use it', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const { status, out, notes } = await run(['seller', 'invite', '--data', folder]);
  assert.equal(status, 0, notes);
  assert.match(out, CODE);
  assert.match(notes, /http:\/\/127\.0\.0\.1:8080\/portal\/join\n/);
  const joined = await look(folder, (store) =>
    store.register(makeJoining({ codeHash: hashCode(out) })));
  assert.equal(joined.rejection, undefined);
});

test('prints address, code and expiry as one JSON document', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const before = Date.now();
  const { status, out, notes } = await run([
    'seller', 'invite', '--base-url', 'https://shop.example/mugs/', '--data', folder, '--json',
  ]);
  assert.deepEqual([status, notes], [0, '']);
  const { url, code, expires_at: end, ...others } = JSON.parse(out);
  assert.deepEqual([url, others], ['https://shop.example/mugs/portal/join', {}]);
  const life = Date.parse(end) - before;
  assert.ok(life >= INVITATION_CODE_LIFE_MS && life < INVITATION_CODE_LIFE_MS + 60_000);
  const found = await look(folder, (store) => store.findInvitation(hashCode(code) ?? ''));
  assert.deepEqual(found, {
    sellerId: undefined, role: 'owner', name: undefined, isFirst: false,
    expiresAt: Date.parse(end),
  });
});

test('reads the address of the server from its environment variable', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const { notes } = await run(['seller', 'invite', '--data', folder], {
    SELLER_API_BASE_URL: 'https://shop.example',
  });
  assert.match(notes, /https:\/\/shop\.example\/portal\/join\n/);
});

test('invites people to an existing seller, with a role and a code that works once', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const id = await createSeller(folder);
  const args = ['seller', 'invite', '--seller', id, '--data', folder];
  const { out, notes } = await run(args);
  assert.match(notes, /\/portal\/join\?shop=existing\n/);
  // The cast: the command has printed it.
  const sellerId = parseSellerId(id) as SellerId;
  const joined = await look(folder, (store) =>
    store.register(makeJoining({ codeHash: hashCode(out) })));
  assert.ok(joined.rejection === undefined);
  assert.equal(joined.sellerId, sellerId);
  const viewer = await run([...args, '--role', 'viewer']);
  const codeHash = hashCode(viewer.out);
  await look(folder, async (store) => {
    assert.equal((await store.register(makeJoining({ codeHash }))).rejection, undefined);
    assert.equal((await store.register(makeJoining({ codeHash }))).rejection, 'code');
    const people = await store.listAccounts(sellerId);
    assert.deepEqual(people.map(({ role }) => role), ['owner', 'viewer']);
    assert.deepEqual(await listTypes(store, sellerId), [
      'invitation_created', 'account_created', 'key_created', 'invitation_created',
      'account_created',
    ]);
  });
});

test('rejects an unknown role, and flags that cannot be combined', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const seller = ['--seller', await createSeller(folder)];
  for (const [flags, says] of [
    [[...seller, '--role', 'boss'], /^--role takes owner, editor or viewer, not "boss"\./],
    [['--role', 'viewer'], /--role needs --seller/],
    [[...seller, '--account', 'anna@shop.example'], /--account needs --replace-account/],
    [[...seller, '--replace-account', '--role', 'viewer'], /keeps the role/],
  ] as const) {
    const { status, out, notes } = await run(['seller', 'invite', ...flags, '--data', folder]);
    assert.deepEqual([status, out], [2, '']);
    assert.match(notes, says);
  }
});

test('replaces one of several accounts, named by its e-mail, with its role and name', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const { sellerId, joining } = await look(folder, (store) => joinPortal(store));
  const id = formatSellerId(sellerId);
  const args = ['seller', 'invite', '--seller', id, '--data', folder];
  const codeHash = hashCode((await run([...args, '--role', 'editor'])).out);
  const editor = makeJoining({ codeHash });
  await look(folder, (store) => store.register(editor));
  const several = await run([...args, '--replace-account']);
  assert.deepEqual([several.status, several.out], [1, '']);
  assert.match(several.notes, /several accounts.*anna\S+, anna\S+/s);
  const { email } = editor.account;
  const { out } = await run([...args, '--replace-account', '--account', email.toUpperCase()]);
  await look(folder, async (store) => {
    const { role, name } = await store.findInvitation(hashCode(out) ?? '') ?? {};
    assert.deepEqual([role, name], ['editor', email.split('@')[0]]);
    const people = await store.listAccounts(sellerId);
    assert.deepEqual(people.map((person) => person.email), [joining.account.email]);
  });
});

test('replaces the account of a seller whose password is lost', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const { sellerId, joining } = await look(folder, (store) => joinPortal(store));
  const args = ['seller', 'invite', '--seller', formatSellerId(sellerId), '--data', folder];
  const { status, out } = await run([...args, '--replace-account']);
  assert.equal(status, 0);
  await look(folder, async (store) => {
    assert.equal(await store.findSignedInSession(sellerId, joining.session.hash), undefined);
    assert.equal(await store.findCredentials(joining.account.email), undefined);
    assert.ok(await store.findGrant(joining.secret.hash));
    const again = makeJoining({ codeHash: hashCode(out) }, joining.account.email);
    assert.equal((await store.register(again)).rejection, undefined);
  });
  const without = await run(['seller', 'invite', '--replace-account', '--data', folder]);
  assert.deepEqual([without.status, without.out], [2, '']);
  assert.match(without.notes, /--replace-account needs --seller/);
});

test('invites to a seller by its external id', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const args = ['--data', folder, '--json'];
  await run(['seller', 'create', 'Mugs', '--external-id', 'user/7', ...args]);
  const { out } = await run(['seller', 'invite', '--seller', 'user/7', ...args]);
  assert.match(JSON.parse(out).url, /\?shop=existing$/);
  const reset = await run(['seller', 'reset-totp', 'user/7', ...args]);
  assert.match(JSON.parse(reset.out).error.detail, /^This seller has no account\./);
});

test('rejects an unknown seller, by its id or external id', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const args = ['seller', 'invite', '--data', folder, '--seller'];
  const missing = await run([...args, 'anna']);
  assert.deepEqual([missing.status, missing.out], [1, '']);
  assert.equal(existsSync(folder), false);
  await look(folder, async () => {});
  for (const id of ['sel_00000000001', 'anna']) {
    const unknown = await run([...args, id]);
    assert.deepEqual([unknown.status, unknown.out], [1, '']);
    assert.match(unknown.notes, new RegExp(`^No seller has the id or external id "${id}"`));
  }
});
