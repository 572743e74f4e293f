/** Secrets are told once, to whom they belong: no file, log, report or refusal has them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateCode, hashCode } from '../../src/domain/code.ts';
import { makeClock } from '../support/clock.ts';
import { startServer } from '../support/server.ts';
import { showCode } from './authenticator.ts';
import { Visitor } from './visitor.ts';

const PASSWORD = 'canary of the first password';
const SECOND = 'canary of the second password';

function readCopies(visitor: Visitor, name: string): string[] {
  const [, text = ''] = new RegExp(`<pre id="copy-${name}"[^>]*>([^<]+)<`)
    .exec(visitor.page?.text ?? '') ?? [];
  assert.notEqual(text, '');
  return text.split('\n');
}

/** Every secret that a seller and their browser ever have, and all that was answered to others. */
async function live(server: Awaited<ReturnType<typeof startServer>>, now: () => number) {
  const visitor = new Visitor(server.port);
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

test('keeps no secret where it could be read', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const { visitor, secrets } = await live(server, clock);
  assert.ok(secrets.size > 30);
  const { sellerId } = await server.store.findCredentials('anna@shop.example') ?? assert.fail();

  const shown: (readonly [where: string, bytes: Buffer])[] = [];
  for (const name of readdirSync(server.folder)) {
    shown.push([name, readFileSync(join(server.folder, name))]);
  }
  assert.ok(shown.some(([name]) => name === 'catalogue.db-wal'));
  const events = await server.store.listAuditEvents(sellerId, {
    type: undefined, before: undefined, limit: 1_000,
  });
  assert.ok(events.length > 5);
  shown.push(['the log', Buffer.from(JSON.stringify(events))]);
  for (const path of ['', '/account', '/account/second-step', '/account/sessions', '/activity',
    '/keys']) {
    const { status, text } = await visitor.get(`/portal${path}`);
    assert.equal(status, 200, path);
    shown.push([path, Buffer.from(text)]);
  }
  shown.push(['reports', Buffer.from(server.reports.map(({ error }) => String(error)).join())]);

  for (const [where, bytes] of shown) {
    for (const secret of secrets) assert.ok(!bytes.includes(secret), `${where} has ${secret}`);
    const [totp = ''] = [...secrets].filter((secret) => /^[A-Z2-7]{32}$/.test(secret));
    assert.ok(!bytes.includes(decodeBits(totp)), `${where} has the bytes of the secret`);
  }
});

test('says no secret in a refusal, nor in a report of a fault', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const { secrets } = await live(server, clock);
  const visitor = new Visitor(server.port);
  const [{ store }, email] = [server, 'anna@shop.example'];
  await visitor.get('/portal/sign-in');
  const refused = await visitor.submit({ email, password: `${SECOND}!` });
  assert.equal(refused.status, 422);
  const { seal } = store;
  store.seal = async () => { throw new Error('broken'); };
  const failed = await visitor.submit({ email, password: SECOND });
  assert.equal(failed.status, 500);
  store.seal = seal;
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

/** The bytes that a secret in base 32 stands for. */
function decodeBits(text: string): Buffer {
  let bits = 0n;
  for (const character of text) {
    bits = bits * 32n + BigInt('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(character));
  }
  return Buffer.from(bits.toString(16).padStart(40, '0'), 'hex');
}
