/** Signing in and out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../support/server.ts';
import { openShop, readText, Visitor } from './visitor.ts';

test('signs in, goes on to the page that was asked for, and signs out', async (t) => {
  const server = await startServer(t, { portal: true });
  const { email, password } = await openShop(server);
  const visitor = new Visitor(server.port);
  const asked = await visitor.get('/portal/?x=1');
  assert.equal(asked.status, 303);
  await visitor.follow();
  assert.equal(visitor.valueOf('to'), '/?x=1');
  const signedIn = await visitor.submit({ email: ` ${email.toUpperCase()} `, password });
  assert.equal(signedIn.status, 303);
  assert.equal(signedIn.headers.location, '/portal/?x=1');
  const page = await visitor.follow();
  assert.match(readText(page.text), /Overview/);
  await visitor.submit({});
  assert.equal(visitor.page?.headers.location, '/portal/sign-in');
  assert.equal((await visitor.get('/portal')).status, 303);
});
