/** The theme switch: a form on every page, whose choice a cookie keeps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../../support/server.ts';
import { openShop, PageClient } from '../page-client.ts';
import { assertPage } from '../page-rules.ts';

const THEME = { action: '/portal/theme' };

function readTheme({ page }: PageClient) {
  const text = page?.text ?? '';
  return {
    theme: /<html[^>]* data-theme="(\w+)"/.exec(text)?.[1],
    scheme: /<meta name="color-scheme" content="([^"]*)"/.exec(text)?.[1],
    pressed: /value="(\w+)"\s+aria-pressed="true"/.exec(text)?.[1],
  };
}

test('is switched from any page, also before the sign-in, and kept', async (t) => {
  const server = await startServer(t, { portal: true });
  const { email, password } = await openShop(server);
  const user = new PageClient(server.port);
  await user.get('/portal/sign-in?to=%2Fproducts');
  assert.deepEqual(readTheme(user), {
    theme: 'system', scheme: 'light dark', pressed: 'system',
  });
  const switched = await user.submit({ theme: 'dark' }, THEME);
  assert.equal(switched.headers.location, '/portal/sign-in?to=%2Fproducts');
  assertPage(await user.follow());
  const dark = { theme: 'dark', scheme: 'dark', pressed: 'dark' };
  assert.deepEqual(readTheme(user), dark);
  await user.submit({ email, password });
  assertPage(await user.follow());
  assert.deepEqual(readTheme(user), dark);
  await user.get('/portal/products?q=a+b&stock=low');
  const light = await user.submit({ theme: 'light' }, THEME);
  assert.equal(light.headers.location, '/portal/products?q=a+b&stock=low');
  await user.follow();
  assert.deepEqual(readTheme(user).theme, 'light');
  await user.submit({ theme: 'system' }, THEME);
  assert.equal(user.cookies.has('__Host-theme'), false);
});

test('returns to pages of the portal only', async (t) => {
  const { user } = await openShop(await startServer(t, { portal: true }));
  for (const [back, location] of [
    ['https://evil.example', '/portal'], ['//evil.example', '/portal'],
    ['/\\evil.example', '/portal'], ['/assets/../../admin', '/portal'],
    ['/products/..', '/portal/'],
    ['', '/portal'], ['/keys', '/portal/keys'], ['/products/x/adjust', '/portal/products/x'],
    ['/keys?after=x', '/portal/keys?after=x'], ['/a\r\nset-cookie: b', '/portal'],
  ] as const) {
    await user.get('/portal');
    const answer = await user.submit({ theme: 'dark', back }, THEME);
    assert.deepEqual([answer.status, answer.headers.location], [303, location], back);
  }
});

test('ignores themes that do not exist, and cookies that name one', async (t) => {
  const { user } = await openShop(await startServer(t, { portal: true }));
  await user.get('/portal');
  await user.submit({ theme: '"><b>' }, THEME);
  assert.equal(user.cookies.has('__Host-theme'), false);
  user.cookies.set('__Host-theme', '"><b>');
  assertPage(await user.get('/portal'));
  assert.equal(readTheme(user).theme, 'system');
});
