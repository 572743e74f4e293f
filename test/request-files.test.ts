/** No request makes the serving thread wait for the disk, except for what SQLite itself reads. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { test, type TestContext } from 'node:test';
import { routes as apiRoutes } from './support/routes.ts';
import { routes as pages } from '../src/features/portal/routes.ts';
import { openShop, PageClient } from './features/portal/page-client.ts';
import { startServer } from './support/server.ts';

/** Records the synchronous calls of `node:fs` until the end of the test. */
function watchSyncCalls(t: TestContext): string[] {
  const calls: string[] = [];
  // The cast: each function is called with its original arguments.
  const functions = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const [name, original] of Object.entries(functions)) {
    if (!name.endsWith('Sync') || !original) continue; // some do not exist on every system
    functions[name] = (...args) => {
      calls.push(`${name} ${new Error().stack?.split('\n').slice(2, 5).join(' ')}`);
      return original.apply(fs, args);
    };
    t.after(() => {
      functions[name] = original;
      syncBuiltinESMExports();
    });
  }
  syncBuiltinESMExports();
  return calls;
}

test('reads no file synchronously to answer a request, with or without cookies', async (t) => {
  const server = await startServer(t, { portal: true });
  const { user, email, password } = await openShop(server);
  const seller = await server.makeSeller();
  const { id } = (await seller.create()).json();
  await user.get('/portal');
  await user.submit({}, { action: '/portal/sign-out' });
  await user.follow();
  const calls = watchSyncCalls(t);
  fs.statSync('.');
  assert.equal(calls.splice(0).length, 1, 'calls are recorded');

  // A device cookie, on public pages: a real one, and an invented one.
  assert.ok(user.cookies.has('__Host-device'));
  assert.equal((await user.submit({ email, password })).status, 303);
  const stranger = new PageClient(server.port);
  stranger.cookies.set('__Host-device', 'A'.repeat(200));
  await stranger.get('/portal/sign-in');
  assert.equal((await stranger.submit({ email, password: 'another one' })).status, 422);

  const isGet = ({ method, path }: { method: string; path: string }) =>
    method === 'GET' && !path.endsWith('/live');
  for (const { path } of pages.filter(isGet)) {
    await user.get(`/portal${path}`.replaceAll(/\{\w+\}/g, id));
  }
  for (const { path } of apiRoutes.filter(isGet)) {
    await seller.send({ path: path.replaceAll(/\{\w+\}/g, id) });
  }
  assert.deepEqual(calls, []);
});
