/** `seller reset-password` and `seller reset-totp`, as a user types them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { formatSellerId } from '../../../src/domain/id.ts';
import { generateTotpSecret } from '../../../src/domain/access/totp.ts';
import { Passwords } from '../../../src/domain/access/password.ts';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { join as joinPortal, listTypes } from '../../store/contract/portal-fixture.ts';
import { createSeller, look } from '../setup.ts';
import { ownerOf } from '../../support/owner.ts';

const NEW_PASSWORD = 'nine slow herons';

async function prepare(t: TestContext) {
  const folder = join(makeFolder(t), 'data');
  const member = await look(folder, (store) => joinPortal(store));
  const id = formatSellerId(member.sellerId);
  return { folder, id, ...member };
}

test('sets a password from standard input, ends all sessions and records it', async (t) => {
  const { folder, id, sellerId, joining: { account, session } } = await prepare(t);
  const args = ['seller', 'reset-password', id, '--data', folder];
  const { status, out, notes } = await run(args, {}, `${NEW_PASSWORD}\n`);
  assert.deepEqual([status, notes], [0, '']);
  assert.equal(out, `Changed the password of ${account.email} and ended all its sessions.\n`);
  await look(folder, async (store) => {
    const credentials = await store.findCredentials(account.email);
    assert.equal(await new Passwords().verify(NEW_PASSWORD, credentials?.passwordHash), true);
    assert.equal(await store.findSignedInSession(sellerId, session.hash), undefined);
    assert.equal((await listTypes(store, sellerId)).at(-1), 'password_reset');
    const [event] = await store.listAuditEvents(sellerId, {
      type: 'password_reset', before: undefined, limit: 1,
    });
    assert.deepEqual([event?.address, event?.subject], ['', account.email]);
  });
});

test('rejects a password that is easy to guess, and one as an argument', async (t) => {
  const { folder, id, sellerId, joining: { account, session } } = await prepare(t);
  const args = ['seller', 'reset-password', id, '--data', folder];
  for (const password of ['short', '', 'aaaaaaaaaaaaaaaa', account.email]) {
    const { status, out, notes } = await run(args, {}, `${password}\n`);
    assert.deepEqual([status, out], [1, ''], password);
    assert.match(notes, /^New password: /);
  }
  assert.equal((await run([...args, NEW_PASSWORD], {}, '')).status, 2);
  assert.ok(await look(folder, (store) => store.findSignedInSession(sellerId, session.hash)));
});

test('turns off two-factor authentication, and says if it is already off', async (t) => {
  const { folder, id, sellerId, joining: { account, session } } = await prepare(t);
  const totp = { secret: generateTotpSecret(), step: 1, recoveryHashes: ['0'.repeat(64)] };
  await look(folder, (store) => store.enableTotp(ownerOf(sellerId), totp, {}));
  const args = ['seller', 'reset-totp', id, '--data', folder];
  const { status, out, notes } = await run([...args, '--json']);
  assert.deepEqual([status, notes], [0, '']);
  assert.deepEqual(JSON.parse(out), { id, email: account.email, is_reset: true });
  await look(folder, async (store) => {
    assert.equal((await store.findCredentials(account.email))?.hasTotp, false);
    assert.equal(await store.findSignedInSession(sellerId, session.hash), undefined);
  });
  const again = await run(args);
  assert.deepEqual([again.status, again.out],
    [0, `Two-factor authentication is already off for ${account.email}.\n`]);
});

test('says if there is no such account', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const id = await createSeller(folder);
  for (const command of ['reset-password', 'reset-totp']) {
    const { status, out, notes } = await run(['seller', command, id, '--data', folder], {}, '');
    assert.deepEqual([status, out], [1, '']);
    assert.match(notes, /has no account\. Create an account with "seller invite --seller"/);
  }
});
