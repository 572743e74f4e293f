/** Invalid arguments from JavaScript programs: each method reports them as an AppError. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Imports } from '../../src/client/imports.ts';
import { Products } from '../../src/client/products.ts';
import { SellerApi } from '../../src/client/seller-client.ts';
import { Stock } from '../../src/client/stock.ts';
import { Webhooks } from '../../src/client/webhooks.ts';
import { AppError } from '../../src/domain/error.ts';
import { createShop, type Shop } from '../../src/embed/shop.ts';
import { openStore } from '../store/sqlite/open.ts';
import { makeDataFolder } from '../support/folder.ts';

const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12.5, stock: 40 };
const CYCLE: Record<string, unknown> = {};
CYCLE['self'] = CYCLE;

/** A function as seen by a program without types. */
type Loose = (...args: unknown[]) => unknown;

const TEMPORARY = { temporary: true };

function isList(value: unknown): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in Object(value);
}

async function rejectsWith(code: string, call: () => unknown, message: RegExp): Promise<void> {
  const used = async (): Promise<void> => {
    const result = call();
    // Lists reject when they are read.
    if (isList(result)) await Array.fromAsync(result);
    else await result;
  };
  await assert.rejects(used, (error) => {
    assert.ok(error instanceof AppError, `${String(call)}: ${String(error)}`);
    assert.equal(error.code, code, `${String(call)}: ${error.message}`);
    assert.match(error.message, message);
    return true;
  });
}

test('rejects invalid locations and options', async () => {
  // The cast: no compiler checks the arguments of a JavaScript program.
  const create = createShop as Loose;
  for (const [args, message] of [
    [[], /createShop: Must be an object/],
    [[null], /Must be an object/],
    [['shop-data'], /Must be an object/],
    [[{}], /Needs \{ folder \}, \{ database, serverKeyFile \}, \{ store \} or \{ temporary/],
    [[{ folder: 1 }], /folder: Must be the path/],
    [[{ folder: '' }], /folder: Must be the path/],
    [[{ floder: 'x' }], /floder: Is not a member.*folder/],
    [[{ store: {} }], /store: Must be a store/],
    [[{ temporary: 'yes' }], /temporary: Must be true/],
    [[{ temporary: true, folder: 'x' }], /Needs/],
    [[TEMPORARY, null], /Must be an object/],
    [[TEMPORARY, { portl: true }], /portl: Is not a member.*portal/],
    [[TEMPORARY, { portal: 1 }], /portal: Must be true, false or an object/],
    [[TEMPORARY, { portal: { openRegistratio: true } }], /portal: openRegistratio: Is not/],
    [[TEMPORARY, { webhooks: { allowHttp: 1 } }], /webhooks: allowHttp: Must be true or false/],
    [[TEMPORARY, { baseUrl: 'shop.example' }], /baseUrl: Must be an address/],
    [[TEMPORARY, { baseUrl: 'ftp://x' }], /baseUrl/],
    [[TEMPORARY, { rateLimitPerMinute: '60' }], /rateLimitPerMinute: Must be a number/],
    [[TEMPORARY, { streamLimits: { perkey: 1 } }], /streamLimits: perkey: Is not/],
    [[TEMPORARY, { trustedProxies: '10.0.0.1' }], /trustedProxies: Must be an array/],
    [[TEMPORARY, { trustedProxies: ['x'] }], /x/],
    [[TEMPORARY, { onChange: true, clock: 7 }], /clock: Must be a function.*onChange: Must be/],
  ] as const) {
    await rejectsWith('invalid_data', () => create(...args), message);
  }
});

async function makeShop(t: { after(end: () => Promise<void>): void }): Promise<{
  readonly shop: Shop; readonly loose: Record<string, Loose>; readonly id: string;
}> {
  const shop = await createShop({ temporary: true }, { webhooks: true });
  t.after(() => shop.close());
  const { id } = await shop.sellers.create({ name: 'Shop' });
  // The cast: as above.
  return { shop, loose: shop as unknown as Record<string, Loose>, id };
}

test('rejects invalid arguments of the shop', async (t) => {
  const { shop, loose, id } = await makeShop(t);
  const sellers = shop.sellers as unknown as Record<string, Loose>;
  const keys = shop.keys as unknown as Record<string, Loose>;
  const { id: keyId } = await shop.keys.create(id, { name: 'key' });
  const on = (owner: Record<string, Loose>, name: string, ...args: unknown[]) =>
    () => owner[name]?.apply(owner, args);
  for (const [call, message] of [
    [on(sellers, 'create'), /sellers\.create: Must be an object/],
    [on(sellers, 'create', { name: 7 }), /name: Must be a string/],
    [on(sellers, 'create', {}), /name: Is required/],
    [on(sellers, 'create', { name: 'x', curency: 'EUR' }), /curency: Is not a member/],
    [on(sellers, 'create', { name: 'x', currency: 'eur' }), /"eur" is not a currency/],
    [on(sellers, 'create', { name: 'x', externalId: null }), /externalId: Must be a string/],
    [on(sellers, 'create', { name: 'x', external_id: '7' }), /external_id: Is not a member/],
    [on(sellers, 'create', { name: 'x', externalId: id }), /external id: Must not begin with sel_/],
    [on(sellers, 'get'), /sellers\.get: Must be a string/],
    [on(sellers, 'update', id), /sellers\.update: Must be an object/],
    [on(sellers, 'update', id, { currency: 'EUR' }), /currency: Is not a member/],
    [on(sellers, 'update', id, { name: null }), /name: Must be a string/],
    [on(sellers, 'update', id, { externalId: 7 }), /externalId: Must be a string/],
    [on(sellers, 'delete', 7), /sellers\.delete: Must be a string/],
    [on(sellers, 'disable'), /sellers\.disable: Must be a string/],
    [on(sellers, 'enable', null), /Must be a string/],
    [on(sellers, 'invite', 7), /sellers\.invite: Must be a string/],
    [on(keys, 'create', id), /keys\.create: Must be an object/],
    [on(keys, 'create', id, null), /keys\.create: Must be an object/],
    [on(keys, 'create', id, { name: 'x', scopes: 'all' }), /scopes: Must be an array/],
    [on(keys, 'create', id, { name: 'x', scopes: ['all'] }), /"all" is not a scope/],
    [on(keys, 'create', id, { name: 'x', expires: '2030-01-01' }), /expires: Must be a Date/],
    [on(keys, 'create', id, { name: 'x', allow: [7] }), /allow: Each: Must be a string/],
    [on(keys, 'list', 7), /keys\.list: Must be a string/],
    [on(keys, 'rotate', keyId, '24h'), /keys\.rotate: overlapMs: Must be a number/],
    [on(keys, 'rotate', keyId, -1), /Must be from 0/],
    [on(keys, 'revoke', {}), /Must be a string/],
    [on(loose, 'as'), /as: Must be a string/],
    [on(loose, 'as', id, 'erp'), /as: Must be an object/],
    [on(loose, 'as', id, { acter: 'erp' }), /acter: Is not a member/],
    [on(loose, 'subscribe'), /Must be a string/],
    [on(loose, 'subscribe', id, { after: 0 }), /subscribe: onChange: Must be a function/],
    [on(loose, 'subscribe', id, null, () => {}), /subscribe: Must be an object/],
    [on(loose, 'subscribe', id, { after: 0, live: false }, () => {}), /live: Is not a member/],
    [on(loose, 'subscribe', id, { after: '0' }, () => {}), /after: Must be a number/],
    [on(loose, 'fetch'), /fetch: Must be a Request/],
    [on(loose, 'fetch', '/api/v1/products'), /fetch: Must be a Request/],
    [on(loose, 'listen'), /listen: Must be an object/],
    [on(loose, 'listen', 8080), /listen: Must be an object/],
    [on(loose, 'listen', { port: 8080 }), /Needs \{ host, port \}/],
    [on(loose, 'listen', { host: '127.0.0.1', port: '80' }), /port: Must be a number/],
    [on(loose, 'listen', { host: '::', port: 0 }, { cert: '' }), /cert: Is not a member/],
  ] as const) {
    await rejectsWith('invalid_data', call, message);
  }
  for (const call of [
    () => shop.sellers.disable('sel_x'), () => shop.sellers.invite('sel_x'),
    () => shop.keys.create('nope', { name: 'x' }), () => shop.keys.revoke('nope'),
    () => shop.as('nope').products.list(), () => shop.as('sel_00000000001').stock.levels(),
    () => shop.subscribe('nope', { after: 0 }, () => {}).done,
  ]) await rejectsWith('not_found', call, /No (?:seller|key) has/);
});

test('rejects invalid arguments of a catalogue', async (t) => {
  const { shop, id } = await makeShop(t);
  const api = shop.as(id);
  await api.products.create(MUG);
  const { products, stock, imports, webhooks } = api;
  const groups = { products, stock, imports, webhooks, '': api };
  const wrong = [undefined, null, 7, true, 'x\ud800', Symbol('x'), 10n, [], {}, () => {}, CYCLE];
  let calls = 0;
  for (const [group, owner] of Object.entries(groups)) {
    for (const name of methodsOf(group)) {
      // The cast: as above.
      const method = Reflect.get(owner, name) as Loose;
      for (const first of wrong) {
        for (const second of wrong) {
          const call = async (): Promise<void> => {
            const result = method.call(owner, first, second, null);
            const list = await result;
            if (isList(list)) await Array.fromAsync(list);
          };
          await call().catch((error: unknown) => {
            const args = `${group}.${name}(${String(typeof first)}, ${String(typeof second)})`;
            assert.ok(error instanceof AppError, `${args}: ${String(error)}`);
          });
          calls += 1;
        }
      }
    }
  }
  assert.equal(calls, 31 * wrong.length ** 2);
  const fields = { ...MUG, sku: 'CUP-1', price: 10n as never };
  await rejectsWith('invalid_data', () => api.products.create(fields), /BigInt/);
  await rejectsWith('invalid_data', () => api.stock.levels({ at: new Date(NaN) }), /valid Date/);
  await rejectsWith('not_found', () => api.products.get('prd_1'), /no product/);
});

/** The methods of the client, so that new ones are tested, too. */
function methodsOf(group: string): readonly string[] {
  const groups = { products: Products, stock: Stock, imports: Imports, webhooks: Webhooks };
  const owner = Object.entries(groups).find(([name]) => name === group)?.[1] ?? SellerApi;
  return Object.getOwnPropertyNames(owner.prototype).filter((name) => name !== 'constructor');
}

test("uses the program's store, and leaves it open", async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const shop = await createShop({ store });
  await shop.sellers.create({ name: 'Shop' });
  await shop.close();
  assert.equal((await store.listSellers({ after: undefined, limit: 2 })).length, 1);
});
