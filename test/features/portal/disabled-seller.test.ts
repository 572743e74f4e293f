/** A disabled seller is signed out of the portal at once, and cannot sign in again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../support/server.ts';
import { openShop, readText, PageClient } from './page-client.ts';

test('signs out a disabled seller, and rejects the right password like a wrong one', async (t) => {
  const server = await startServer(t, { portal: true });
  const shop = await openShop(server);
  const other = await openShop(server);
  await server.store.setSellerDisabled(shop.sellerId, true);
  const page = await shop.user.get('/portal');
  assert.deepEqual([page.status, page.headers.location?.split('?')[0]], [303, '/portal/sign-in']);
  const { email, password } = shop;
  const tryPassword = async (text: string) => {
    const user = new PageClient(server.port);
    await user.get('/portal/sign-in');
    const answer = await user.submit({ email, password: text });
    assert.equal(user.cookies.has('__Host-session'), false);
    return [answer.status, readText(answer.text)];
  };
  const rejected = await tryPassword(password);
  assert.equal(rejected[0], 422);
  assert.match(String(rejected[1]), /Incorrect e-mail or password/);
  assert.deepEqual(await tryPassword(`${password}!`), rejected);
  assert.equal((await other.user.get('/portal')).status, 200);

  await server.store.setSellerDisabled(shop.sellerId, false);
  const user = new PageClient(server.port);
  await user.get('/portal/sign-in');
  assert.equal((await user.submit({ email, password })).status, 303);
  const { text } = await user.get('/portal/activity');
  assert.match(readText(text), /Shop enabled .* this machine .*Shop disabled/);
});
