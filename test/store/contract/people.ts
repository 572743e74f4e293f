/** The contract of a store: the people of a seller, their names and roles, and invitations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountReference, Role } from '../../../src/domain/access/account.ts';
import { type AccountId, PORTAL_KEY_ID } from '../../../src/domain/id.ts';
import { ACCOUNTS_PER_SELLER_LIMIT } from '../../../src/domain/limits.ts';
import { generateTotpSecret } from '../../../src/domain/access/totp.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import { ownerOf } from '../../support/owner.ts';
import { countTo, DAY_MS, makeNewKey, makeSecret, type PrepareStore } from './fixture.ts';
import {
  join, listEvents, makeInvitation, makeJoining, makeNewSession, makeSecretHash, SHOWN,
} from './portal-fixture.ts';
import { makeNewWebhook } from './webhooks.ts';

const BY = { actorName: 'Anna', address: '192.0.2.9' };
const LAST_OWNER = { code: 'limit_reached', publicDetail: /only owner/ };

export function testPeople(prepare: PrepareStore): void {
  testJoining(prepare);
  testLastOwner(prepare);
  testNames(prepare);
  testSeparation(prepare);
  testRevocation(prepare);
  testLimit(prepare);
  testFormerOwners(prepare);
}

/** An account with this role, of the seller of `owner`. */
async function invite(
  store: Store, { sellerId }: AccountReference, role: Role, name?: string,
): Promise<AccountReference & { readonly sessionHash: string }> {
  const codeHash = makeSecretHash();
  const expiresAt = makeClock().now + 10 * DAY_MS;
  await store.createInvitation(codeHash, makeInvitation({ sellerId, role, name, expiresAt }), BY);
  const joining = makeJoining({ codeHash });
  const joined = await store.register(joining);
  assert.ok(joined.rejection === undefined);
  return { sellerId, accountId: joined.accountId, sessionHash: joining.session.hash };
}

async function prepareOwner(prepare: ReturnType<PrepareStore>) {
  const clock = makeClock();
  const store = await prepare(clock);
  const { sellerId, joining } = await join(store);
  return { clock, store, owner: ownerOf(sellerId), joining };
}

function testJoining(prepare: PrepareStore): void {
  test('gives an invited person the role and the name of the invitation', async (t) => {
    const { store, owner } = await prepareOwner(prepare(t));
    const editor = await invite(store, owner, 'editor', 'Ben');
    const viewer = await invite(store, owner, 'viewer');
    const people = await store.listAccounts(owner.sellerId);
    assert.deepEqual(people.map(({ accountId, role }) => [accountId, role]),
      [[1, 'owner'], [2, 'editor'], [3, 'viewer']]);
    assert.equal((await store.findAccount(editor))?.name, 'Ben');
    const { name, email } = await store.findAccount(viewer) ?? {};
    assert.equal(name, email?.split('@')[0]);
    const session = await store.findSignedInSession(owner.sellerId, editor.sessionHash);
    assert.deepEqual([session?.account.accountId, session?.account.role], [2, 'editor']);
    const created = (await listEvents(store, owner.sellerId)).filter(({ type }) =>
      type === 'invitation_created');
    assert.deepEqual(created.map(({ actorName, subject }) => [actorName, subject]),
      [['Anna', 'Ben, editor'], ['Anna', 'viewer']]);
  });

  test('adds a number to a name that is taken, in any case and Unicode form', async (t) => {
    const { store, owner } = await prepareOwner(prepare(t));
    for (const name of ['Zoë', 'ZOË', 'Zoe\u0308']) await invite(store, owner, 'viewer', name);
    const long = 'x'.repeat(100);
    for (const _ of [1, 2]) await invite(store, owner, 'viewer', long);
    const [, ...people] = await store.listAccounts(owner.sellerId);
    assert.deepEqual(people.map(({ name }) => name),
      ['Zoë', 'ZOË 2', 'Zoe\u0308 3', long, `${'x'.repeat(98)} 2`]);
  });
}

function testLastOwner(prepare: PrepareStore): void {
  test('neither removes nor demotes the last owner, and changes nothing', async (t) => {
    const { store, owner } = await prepareOwner(prepare(t));
    await invite(store, owner, 'editor');
    const before = await store.listAccounts(owner.sellerId);
    await assert.rejects(store.removeAccount(owner, BY), LAST_OWNER);
    await assert.rejects(store.setRole(owner, 'editor', BY), LAST_OWNER);
    assert.deepEqual(await store.listAccounts(owner.sellerId), before);
    await store.setRole(owner, 'owner', BY);
  });

  test('keeps an owner, also when two of them leave concurrently', async (t) => {
    const { store, owner } = await prepareOwner(prepare(t));
    const second = await invite(store, owner, 'owner');
    const third = await invite(store, owner, 'owner');
    const left = await Promise.allSettled([
      store.removeAccount(owner, BY), store.setRole(second, 'viewer', BY),
      store.removeAccount(third, BY),
    ]);
    assert.equal(left.filter(({ status }) => status === 'rejected').length, 1);
    const people = await store.listAccounts(owner.sellerId);
    assert.equal(people.filter(({ role }) => role === 'owner').length, 1);
  });

  test('lets the operator remove the last owner', async (t) => {
    const { store, owner } = await prepareOwner(prepare(t));
    await store.removeAccount(owner);
    assert.deepEqual(await store.listAccounts(owner.sellerId), []);
  });
}

function testNames(prepare: PrepareStore): void {
  test('renames an account, unless another one of the seller has the name', async (t) => {
    const { store, owner } = await prepareOwner(prepare(t));
    const editor = await invite(store, owner, 'editor', 'Ben');
    const [other] = await store.listAccounts((await join(store)).sellerId);
    assert.equal(await store.setAccountName(owner, 'BEN', BY), false);
    assert.equal(await store.setAccountName(editor, 'ben', BY), true);
    assert.equal(await store.setAccountName(owner, other?.name ?? '', BY), true);
    assert.equal((await store.findAccount(editor))?.name, 'ben');
    const renamed = (await listEvents(store, owner.sellerId)).filter(({ type }) =>
      type === 'account_renamed');
    assert.deepEqual(renamed.map(({ subject }) => subject).slice(0, 1), ['Ben → ben']);
  });

  test('rejects renames and roles of an unknown account', async (t) => {
    const { store, owner } = await prepareOwner(prepare(t));
    const nobody = { ...owner, accountId: 7 as AccountId };
    await assert.rejects(store.setAccountName(nobody, 'Ben', BY), { code: 'not_found' });
    await assert.rejects(store.setRole(nobody, 'viewer', BY), { code: 'not_found' });
    await store.removeAccount(nobody, BY);
  });
}

function testSeparation(prepare: PrepareStore): void {
  test('keeps the sessions, codes and secrets of colleagues apart', async (t) => {
    const { store, owner, joining } = await prepareOwner(prepare(t));
    const editor = await invite(store, owner, 'editor');
    const [secret, recovery] = [generateTotpSecret(), makeSecretHash()];
    await store.enableTotp(editor, { secret, step: 7, recoveryHashes: [recovery] }, BY);
    assert.equal((await store.findTotp(editor))?.secret, secret);
    assert.equal(await store.findTotp(owner), undefined);
    assert.equal(await store.takeRecoveryCode(owner, recovery, ''), false);
    assert.equal(await store.takeTotpStep(owner, 7), true);
    await store.createSession({ ...editor, ...SHOWN, hasTotp: true }, makeNewSession());
    const [newest] = await store.listSessions(editor, 10);
    await store.endSessions(owner, { id: newest?.id ?? 0 }, { type: 'session_ended' });
    await store.endSessions(owner, { allBut: 0 }, { type: 'session_ended' });
    assert.deepEqual(await store.listSessions(owner, 10), []);
    assert.equal((await store.listSessions(editor, 10)).length, 2);
    assert.equal(await store.findSignedInSession(owner.sellerId, joining.session.hash), undefined);
  });

  test('removes one person, whose sessions end, and leaves the others', async (t) => {
    const { store, owner, joining } = await prepareOwner(prepare(t));
    const editor = await invite(store, owner, 'editor', 'Ben');
    const { email = '' } = await store.findAccount(editor) ?? {};
    await store.removeAccount(editor, BY);
    assert.equal(await store.findSignedInSession(owner.sellerId, editor.sessionHash), undefined);
    assert.equal(await store.findCredentials(email), undefined);
    assert.equal(await store.createSession({ ...editor, ...SHOWN }, makeNewSession()), false);
    assert.ok(await store.findSignedInSession(owner.sellerId, joining.session.hash));
    const next = await invite(store, owner, 'viewer');
    assert.equal(next.accountId, 3);
  });
}

function testRevocation(prepare: PrepareStore): void {
  test('lists and revokes the invitations of one seller', async (t) => {
    const { clock, store, owner: { sellerId } } = await prepareOwner(prepare(t));
    const other = await join(store);
    const hash = makeSecretHash();
    const invitation = makeInvitation({
      sellerId, role: 'viewer', name: 'Zoë', expiresAt: clock.now + DAY_MS,
    });
    await store.createInvitation(hash, invitation, BY);
    assert.deepEqual(await store.listInvitations(sellerId), [{ hash, ...invitation }]);
    assert.deepEqual(await store.listInvitations(other.sellerId), []);
    assert.equal(await store.revokeInvitation(other.sellerId, hash, BY), false);
    assert.ok(await store.findInvitation(hash));
    assert.equal(await store.revokeInvitation(sellerId, hash, BY), true);
    assert.equal(await store.revokeInvitation(sellerId, hash, BY), false);
    assert.equal(await store.findInvitation(hash), undefined);
    const revoked = (await listEvents(store, sellerId)).filter(({ type }) =>
      type === 'invitation_revoked');
    assert.deepEqual(revoked.map(({ subject }) => subject), ['Zoë, viewer']);
  });

  test('revokes open invitations when an owner, who knows their codes, leaves', async (t) => {
    const { clock, store, owner } = await prepareOwner(prepare(t));
    const { sellerId } = owner;
    const second = await invite(store, owner, 'owner');
    for (const leave of [
      () => store.setRole(second, 'editor', BY), () => store.removeAccount(second, BY),
    ]) {
      const hash = makeSecretHash();
      const invitation = makeInvitation({ sellerId, expiresAt: clock.now + DAY_MS });
      await store.createInvitation(hash, invitation, BY);
      await store.setRole(second, 'owner', BY);
      await leave();
      assert.equal(await store.findInvitation(hash), undefined);
    }
  });
}

function testLimit(prepare: PrepareStore): void {
  test('limits the people of a seller, including those who are invited', async (t) => {
    const { clock, store, owner: { sellerId } } = await prepareOwner(prepare(t));
    const create = (): Promise<void> => store.createInvitation(
      makeSecretHash(), makeInvitation({ sellerId, expiresAt: clock.now + DAY_MS }), BY);
    for (const _ of countTo(ACCOUNTS_PER_SELLER_LIMIT - 2)) await create();
    const last = await Promise.allSettled(countTo(4).map(create));
    assert.equal(last.filter(({ status }) => status === 'fulfilled').length, 1);
    await assert.rejects(create(), { code: 'limit_reached' });
    clock.now += DAY_MS;
    await create();
  });
}

function testFormerOwners(prepare: PrepareStore): void {
  test('rejects owner-only actions of an account that is no longer an owner', async (t) => {
    const { clock, store, owner } = await prepareOwner(prepare(t));
    const { sellerId } = owner;
    const [one, other] = [await invite(store, owner, 'owner'), await invite(store, owner, 'owner')];
    const target = await invite(store, owner, 'viewer', 'Ben');
    const key = await store.createKey(sellerId, makeSecret(), makeNewKey());
    await store.setRole(one, 'editor', BY);
    await store.removeAccount(other, BY);
    const invitation = makeInvitation({ sellerId, expiresAt: clock.now + DAY_MS });
    const open = makeSecretHash();
    await store.createInvitation(open, invitation, { ...BY, accountId: owner.accountId });
    const reference = { sellerId, keyId: key.id };
    const write = { sellerId, keyId: PORTAL_KEY_ID };
    const { webhook: { id } } = await store.createWebhook(write, makeNewWebhook());
    const before = await listEvents(store, sellerId);
    for (const { accountId } of [one, other]) {
      const by = { ...BY, accountId };
      for (const attempt of [
        () => store.createInvitation(makeSecretHash(), invitation, by),
        () => store.revokeInvitation(sellerId, open, by),
        () => store.setRole(target, 'owner', by),
        () => store.setAccountName(target, 'Max', by),
        () => store.removeAccount(target, by),
        () => store.createKey(sellerId, makeSecret(), makeNewKey(), by),
        () => store.rotateKey(reference, makeSecret(), 0, by),
        () => store.revokeKey(reference, by),
        () => store.createWebhook({ ...write, accountId }, makeNewWebhook()),
        () => store.patchWebhook({ ...write, accountId }, id, { description: 'x' }),
        () => store.retryWebhook({ ...write, accountId }, id),
        () => store.replayWebhook({ ...write, accountId }, id, 0),
        () => store.rotateWebhookSecret({ ...write, accountId }, id, 0),
        () => store.deleteWebhook({ ...write, accountId }, id),
      ]) await assert.rejects(attempt(), { code: 'browser_refused' }, String(attempt));
    }
    assert.deepEqual(await listEvents(store, sellerId), before);
    assert.equal(await store.setAccountName(one, 'Zoë', { accountId: one.accountId }), true);
    await store.createKey(sellerId, makeSecret(), makeNewKey(), { accountId: owner.accountId });
    await store.deleteWebhook({ ...write, accountId: owner.accountId }, id);
  });

  test('leaves no invitation of an owner who is demoted concurrently', async (t) => {
    const { clock, store, owner } = await prepareOwner(prepare(t));
    const { sellerId } = owner;
    const second = await invite(store, owner, 'owner');
    const invitation = makeInvitation({ sellerId, expiresAt: clock.now + DAY_MS });
    const by = { ...BY, accountId: second.accountId };
    await Promise.allSettled([
      ...countTo(3).map(() => store.createInvitation(makeSecretHash(), invitation, by)),
      store.setRole(second, 'editor', BY),
      ...countTo(3).map(() => store.createInvitation(makeSecretHash(), invitation, by)),
    ]);
    assert.equal((await store.findAccount(second))?.role, 'editor');
    assert.deepEqual(await store.listInvitations(sellerId), []);
  });
}
