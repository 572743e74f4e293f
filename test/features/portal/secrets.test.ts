/** Secrets are told once, to whom they belong: no refusal has them, and no report of a fault. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateCode, hashCode } from '../../../src/domain/access/human-code.ts';
import { makeClock } from '../../support/clock.ts';
import { startServer } from '../../support/server.ts';
import { showCode } from './sign-in/authenticator.ts';
import { PageClient } from './page-client.ts';

const PASSWORD = 'canary of the first password';
const SECOND = 'canary of the second password';

function readCopies(visitor: PageClient, name: string): string[] {
  const [, text = ''] = new RegExp(`<pre id="copy-${name}"[^>]*>([^<]+)<`)
    .exec(visitor.page?.text ?? '') ?? [];
  assert.notEqual(text, '');
  return text.split('\n');
}

/** Every secret that a seller and their browser ever have, and all that was answered to others. */
async function live(server: Awaited<ReturnType<typeof startServer>>, now: () => number) {
  const visitor = new PageClient(server.port);
  const secrets = new Set<string>();
  const keep = (): void => {
    for (const [name, value] of visitor.cookies) if (name !== '__Host-visit') secrets.add(value);
  };
  const invitation = generateCode();
  await server.store.createInvitation(hashCode(invitation) ?? '', {
    sellerId: undefined, isFirst: true, expiresAt: now() + 1_000,
  });
  await visitor.get('/portal/join');
  await visitor.submit({
    code: invitation, name: 'Mugs', email: 'anna@shop.example', password: PASSWORD,
  });
  assert.equal(visitor.page?.status, 200);
  const [key = ''] = readCopies(visitor, 'key');
  keep();
  await visitor.get('/portal/account/second-step');
  const [totp = ''] = readCopies(visitor, 'secret');
  const code = showCode(totp, now());
  await visitor.submit({ code, current_password: PASSWORD });
  const codes = readCopies(visitor, 'codes');
  await visitor.get('/portal/account/password');
  await visitor.submit({ current_password: PASSWORD, new_password: SECOND });
  assert.equal(visitor.page.status, 303);
  keep();
  await visitor.get('/portal');
  await visitor.submit({}, { action: '/portal/sign-out' });
  await visitor.follow();
  await visitor.submit({ email: 'anna@shop.example', password: SECOND });
  keep();
  await visitor.follow();
  await visitor.submit({ code: codes[0] });
  assert.equal(visitor.page.headers.location, '/portal');
  keep();
  for (const secret of [PASSWORD, SECOND, invitation, key, totp, ...codes]) {
    secrets.add(secret);
    secrets.add(secret.replaceAll(/[ -]/g, ''));
  }
  return { visitor, secrets };
}

test('says no secret in a refusal, nor in a report of a fault', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const { secrets } = await live(server, clock);
  const visitor = new PageClient(server.port);
  const [{ store }, email] = [server, 'anna@shop.example'];
  await visitor.get('/portal/sign-in');
  const refused = await visitor.submit({ email, password: `${SECOND}!` });
  assert.equal(refused.status, 422);
  const { encrypt } = store;
  store.encrypt = async () => { throw new Error('broken'); };
  const failed = await visitor.submit({ email, password: SECOND });
  assert.equal(failed.status, 500);
  store.encrypt = encrypt;
  const forged = await visitor.post('/portal/sign-in', new URLSearchParams({
    email, password: SECOND,
  }));
  assert.equal(forged.status, 403);
  await visitor.get('/portal/join');
  const joined = await visitor.submit({ code: 'x', email, password: SECOND });
  assert.equal(joined.status, 422);
  assert.equal(server.reports.length, 1);
  const told = [refused, failed, forged, joined].map(({ text }) => text)
    .concat(server.reports.map(({ error }) => error instanceof Error ? String(error.stack) : ''));
  for (const text of told) {
    for (const secret of [...secrets, `${SECOND}!`]) assert.ok(!text.includes(secret), text);
  }
});
