/** Adds people to a test shop. */
import assert from 'node:assert/strict';
import type { AccountReference, Role } from '../../../src/domain/access/account.ts';
import { generateCode, hashCode } from '../../../src/domain/access/human-code.ts';
import type { TestServer } from '../../support/server.ts';
import { makeJoining } from '../../store/contract/portal-fixture.ts';
import { hashCheaply, PageClient, type Shop } from './page-client.ts';

export interface Colleague {
  /** Signed in. */
  readonly user: PageClient;
  readonly account: AccountReference;
  readonly email: string;
  readonly password: string;
}

let colleagues = 0;

/** Invites a person to the shop, who then signs in on the sign-in page. */
export async function addColleague(
  { port, store }: Pick<TestServer, 'port' | 'store'>, { sellerId }: Pick<Shop, 'sellerId'>,
  role: Role, name?: string,
): Promise<Colleague> {
  colleagues += 1;
  const codeHash = hashCode(generateCode()) ?? '';
  await store.createInvitation(codeHash, {
    sellerId, role, name, isFirst: false, expiresAt: Number.MAX_SAFE_INTEGER,
  });
  const joining = makeJoining({ codeHash }, `colleague${colleagues}@shop.example`);
  const password = 'three slow trains';
  const made = { ...joining.account, locale: 'en-GB', passwordHash: hashCheaply(password) };
  const joined = await store.register({ ...joining, account: made });
  assert.ok(joined.rejection === undefined);
  const account = { sellerId, accountId: joined.accountId };
  await store.endSessions(account, { allBut: 0 }, { type: 'session_ended' });
  const user = new PageClient(port);
  const { email } = joining.account;
  await user.get('/portal/sign-in');
  const signedIn = await user.submit({ email, password });
  assert.equal(signedIn.status, 303, signedIn.text);
  return { user, account, email, password };
}
