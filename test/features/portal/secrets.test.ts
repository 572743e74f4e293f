/** Secrets are shown once, to their owner: no rejection and no error report contains them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateCode, hashCode } from '../../../src/domain/access/human-code.ts';
import { makeClock } from '../../support/clock.ts';
import { startServer } from '../../support/server.ts';
import { showCode } from './sign-in/authenticator.ts';
import { PageClient } from './page-client.ts';

const PASSWORD = 'canary of the first password';
const SECOND = 'canary of the second password';

function readCopies(user: PageClient, name: string): string[] {
  const [, text = ''] = new RegExp(`<pre id="copy-${name}"[^>]*>([^<]+)<`)
    .exec(user.page?.text ?? '') ?? [];
  assert.notEqual(text, '');
  return text.split('\n');
}

/** Joins, signs in and changes credentials, and returns every secret that the seller then has. */
async function collectSecrets(server: Awaited<ReturnType<typeof startServer>>, now: () => number) {
  const user = new PageClient(server.port);
  const secrets = new Set<string>();
  const keep = (): void => {
    for (const [name, value] of user.cookies) if (name !== '__Host-visit') secrets.add(value);
  };
  const invitation = generateCode();
  await server.store.createInvitation(hashCode(invitation) ?? '', {
    sellerId: undefined, role: 'owner', name: undefined, isFirst: true,
    expiresAt: now() + 1_000,
  });
  await user.get('/portal/join');
  await user.submit({
    code: invitation, name: 'Mugs', email: 'anna@shop.example', password: PASSWORD,
  });
  assert.equal(user.page?.status, 200);
  const [key = ''] = readCopies(user, 'key');
  keep();
  await user.get('/portal/account/two-factor');
  const [totp = ''] = readCopies(user, 'secret');
  const code = showCode(totp, now());
  await user.submit({ code, current_password: PASSWORD });
  const codes = readCopies(user, 'codes');
  await user.get('/portal/account/password');
  await user.submit({ current_password: PASSWORD, new_password: SECOND });
  assert.equal(user.page.status, 303);
  keep();
  await user.get('/portal');
  await user.submit({}, { action: '/portal/sign-out' });
  await user.follow();
  await user.submit({ email: 'anna@shop.example', password: SECOND });
  keep();
  await user.follow();
  await user.submit({ code: codes[0] });
  assert.equal(user.page.headers.location, '/portal');
  keep();
  for (const secret of [PASSWORD, SECOND, invitation, key, totp, ...codes]) {
    secrets.add(secret);
    secrets.add(secret.replaceAll(/[ -]/g, ''));
  }
  return { user, secrets };
}

test('reveals no secret in an error page or an error report', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const { secrets } = await collectSecrets(server, clock);
  const user = new PageClient(server.port);
  const [{ store }, email] = [server, 'anna@shop.example'];
  await user.get('/portal/sign-in');
  const rejected = await user.submit({ email, password: `${SECOND}!` });
  assert.equal(rejected.status, 422);
  const { encrypt } = store;
  store.encrypt = async () => { throw new Error('broken'); };
  const failed = await user.submit({ email, password: SECOND });
  assert.equal(failed.status, 500);
  store.encrypt = encrypt;
  const forged = await user.post('/portal/sign-in', new URLSearchParams({
    email, password: SECOND,
  }));
  assert.equal(forged.status, 403);
  await user.get('/portal/join');
  const joined = await user.submit({ code: 'x', email, password: SECOND });
  assert.equal(joined.status, 422);
  assert.equal(server.reports.length, 1);
  const texts = [rejected, failed, forged, joined].map(({ text }) => text)
    .concat(server.reports.map(({ error }) => error instanceof Error ? String(error.stack) : ''));
  for (const text of texts) {
    for (const secret of [...secrets, `${SECOND}!`]) assert.ok(!text.includes(secret), text);
  }
});
