/** `close` releases everything that a shop holds, so that an idle program exits. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { AppError } from '../../src/domain/error.ts';
import { createShop, type Shop } from '../../src/embed/shop.ts';
import { makeFolder } from '../support/folder.ts';

const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12.5, stock: 40 };

/** Two shops with everything that a shop can start, closed while all of it is in use. */
const PROGRAM = `
  import { once } from 'node:events';
  import { readdirSync } from 'node:fs';
  import { get } from 'node:http';
  import { tmpdir } from 'node:os';
  import { createShop } from ${JSON.stringify(import.meta.resolve('../../src/index.ts'))};
  await createShop({ temporary: true }, { trustedProxies: ['nonsense'] }).catch(() => {});
  const shops = await Promise.all([1, 2].map(async () => {
    const shop = await createShop({ temporary: true }, {
      portal: true, webhooks: { allowHttp: true, allowPrivate: true }, onChange() {},
    });
    const { id } = await shop.sellers.create({ name: 'Shop' });
    const { key } = await shop.keys.create(id, { name: 'key' });
    const { port } = await shop.listen({ host: '127.0.0.1', port: 0 });
    await shop.as(id).webhooks.create({ url: 'http://127.0.0.1:' + port + '/' });
    const received = Promise.withResolvers();
    shop.subscribe(id, { after: 0 }, received.resolve);
    await shop.as(id).products.create(${JSON.stringify(MUG)});
    await received.promise;
    const live = { headers: { 'x-api-key': key, accept: 'text/event-stream' } };
    const path = '/api/v1/changes?after=0';
    const { body } = await shop.fetch(new Request('http://shop.test' + path, live));
    await body.getReader().read(); // the rest stays unread
    const [stream] = await once(get({ port, path, ...live }), 'response');
    await once(stream, 'readable');
    shop.as(id).changes({ after: 1, live: true }).next().catch(() => {});
    await shop.fetch(new Request('http://shop.test/portal/sign-in'));
    return { shop, body, stream };
  }));
  await Promise.all(shops.flatMap(({ shop }) => [shop.close(), shop.close()]));
  await shops[0].shop.close();
  // Except for its own output, and requests that end by themselves.
  const resources = process.getActiveResourcesInfo()
    .filter((name) => !/^(?:PipeWrap|TTYWrap|FSReq.*|CloseReq)$/.test(name));
  process.stdout.write(JSON.stringify({ files: readdirSync(tmpdir()), resources }));
`;

test('lets a program exit by itself, and removes temporary folders', async (t) => {
  const { stdout } = await promisify(execFile)(
    process.execPath, ['--input-type=module', '--eval', PROGRAM],
    { timeout: 60_000, env: { ...process.env, TMPDIR: makeFolder(t) } });
  assert.deepEqual(JSON.parse(stdout), { files: [], resources: [] });
});

test('rejects every call after it is closed', async () => {
  const shop = await createShop({ temporary: true });
  const { id } = await shop.sellers.create({ name: 'Shop' });
  const { id: keyId } = await shop.keys.create(id, { name: 'key' });
  const api = shop.as(id);
  await Promise.all([shop.close(), shop.close()]);
  const uses: ((closed: Shop) => unknown)[] = [
    ({ sellers }) => sellers.create({ name: 'x' }),
    ({ sellers }) => Array.fromAsync(sellers.list()),
    ({ sellers }) => sellers.disable(id),
    ({ sellers }) => sellers.invite(),
    ({ keys }) => keys.create(id, { name: 'x' }),
    ({ keys }) => Array.fromAsync(keys.list(id)),
    ({ keys }) => keys.rotate(keyId),
    ({ keys }) => keys.revoke(keyId),
    ({ listen }) => listen({ host: '127.0.0.1', port: 0 }),
    ({ subscribe }) => subscribe(id, { after: 0 }, () => {}),
    () => api.products.create(MUG),
    () => Array.fromAsync(api.changes({ after: 0 })),
  ];
  for (const use of uses) {
    await assert.rejects(async () => use(shop), (error) => {
      assert.ok(error instanceof AppError, `${String(use)}: ${String(error)}`);
      return error.code === 'unavailable';
    });
  }
  const request = new Request('http://shop.test/api/v1/products');
  assert.equal((await shop.fetch(request)).status, 503);
});
