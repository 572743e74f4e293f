/** The page of a product in the portal, and edits of it, alone and against those of others. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatProductId, PORTAL_KEY_ID, type ProductId } from '../../../src/domain/id.ts';
import { assertForeign, assertPage } from '../page-rules.ts';
import { type Fields, readText, Visitor } from '../visitor.ts';
import {
  type Catalogue, type Created, HOSTILE_NAMES, openCatalogue, openOther, readFaults, readRows,
} from './catalogue.ts';

/** Opens the page of a product and sends its form for edits. */
async function edit({ visitor }: Pick<Catalogue, 'visitor'>, { path }: Created, fields: Fields) {
  await visitor.get(path);
  return visitor.submit(fields, { action: path });
}

test('shows a product, its stock over time, and who moved it', async (t) => {
  const { visitor, create, sync, clock } = await openCatalogue(t);
  const mug = await create({ name: 'Mug', sku: 'M', category: 'Kitchen', price: 12.5, stock: 9 });
  clock.now += 60_000;
  await sync([{ id: mug.id, adjust: -6 }], { source: 'till', reason: 'sold' });
  const answer = await visitor.get(mug.path);
  assertPage(answer);
  const text = readText(answer.text);
  assert.match(text, /SKU M Category Kitchen Price €12\.50 Stock 3 low/);
  assert.match(text, new RegExp(`Id ${mug.id}`));
  assert.deepEqual(readRows(answer), [
    ['2 Jan 2026, 04:05:05 CET', '-6', '9 → 3', 'sold', 'till', 'My first key'],
    ['2 Jan 2026, 04:04:05 CET', '+9', '0 → 9', 'Created', '', 'My first key'],
  ]);
  assert.match(answer.text, /<svg class="plot"[^>]* role="img"/);
  assert.match(text, /From 2 Jan 2026, 04:04:05 CET to .*: at least 3, at most 9, 3 at the end/);
});

test('shows the movements of a product alone, page by page', async (t) => {
  const { visitor, create, sync } = await openCatalogue(t);
  const mug = await create({ stock: 0 });
  assert.match(readText((await visitor.get(mug.path)).text), /The stock has not moved yet/);
  const other = await create({ stock: 0 });
  for (let n = 1; n <= 60; n += 1) {
    await sync([{ id: mug.id, set: n }, { id: other.id, set: 1_000 + n }]);
  }
  const seen: string[] = [];
  for (let path: string | undefined = mug.path; path !== undefined;) {
    const answer = await visitor.get(path);
    assertPage(answer);
    seen.push(...readRows(answer).map(([, , moved = '']) => moved));
    path = /href="([^"]*)#movements" rel="next"/.exec(answer.text)?.[1];
  }
  assert.deepEqual(seen, Array.from({ length: 60 }, (_, n) => `${59 - n} → ${60 - n}`));
  for (const upTo of ['x', '-1', '0', '1e9', '9'.repeat(30)]) {
    const answer = await visitor.get(`${mug.path}?up_to=${upTo}`);
    assertPage(answer);
    assert.equal(readRows(answer)[0]?.[2], '59 → 60');
  }
  const none = await visitor.get(`${mug.path}?up_to=1`);
  assert.match(readText(none.text), /There is nothing older/);
});

test('names nothing of another shop, and nothing that is not there', async (t) => {
  const catalogue = await openCatalogue(t);
  const { server, create, read } = catalogue;
  const mug = await create({ stock: 5 });
  const other = await openOther(server);
  const shop = { ...other, key: '' as never };
  const own = formatProductId(other.sellerId, 1 as ProductId);
  await assertForeign(shop, {
    get: ['', '/delete'], post: ['/stock', '/adjust', '/delete'], foreign: mug.path,
    unknown: [`/portal/products/${own}`, '/portal/products/prd_x', '/portal/products/%00'],
  });
  // A form that is in order, too.
  await other.visitor.get('/portal/products/new');
  const fields = {
    csrf: other.visitor.valueOf('csrf') ?? '', once: crypto.randomUUID(), name: 'Mine',
    category: 'x', sku: 'x', price: '1', version: '', amount: '1', way: 'take', set: '0',
    expect: '5', position: '1',
  };
  for (const end of ['', '/stock', '/adjust', '/delete']) {
    const texts = [];
    for (const path of [mug.path, `/portal/products/${own}`]) {
      const answer = await other.visitor.post(path + end, new URLSearchParams(fields));
      assertPage(answer, 404);
      texts.push(answer.text.replace(/name="once" value="[^"]*"/, ''));
    }
    assert.equal(texts[0], texts[1], end);
  }
  assert.deepEqual((await read(mug))?.['stock'], 5);
});

describe('an edit', () => {
  test('saves what was typed, and leaves the stock as it is', async (t) => {
    const catalogue = await openCatalogue(t);
    const { visitor, create, sync, read } = catalogue;
    const mug = await create({ price: 1, stock: 9 });
    await visitor.get(mug.path);
    await sync([{ id: mug.id, adjust: -2 }]); // sold while somebody types
    const saved = await visitor.submit(
      { name: 'Cup', category: 'Bar', sku: 'CUP', price: '2,50' }, { action: mug.path },
    );
    assert.equal(saved.status, 303);
    assert.match(readText((await visitor.follow()).text), /What you changed was saved/);
    const { name, category, sku, price, stock } = await read(mug) ?? {};
    assert.deepEqual([name, category, sku, price, stock], ['Cup', 'Bar', 'CUP', 2.5, 7]);
  });

  test('of nothing changes nothing', async (t) => {
    const catalogue = await openCatalogue(t, { currency: 'JPY' });
    const { create, read } = catalogue;
    const mug = await create({ name: ' Outer space ', price: 1200 });
    const before = await read(mug);
    assert.equal((await edit(catalogue, mug, {})).status, 303);
    assert.deepEqual(await read(mug), before);
    assert.equal((await edit(catalogue, mug, { price: '1300' })).status, 303);
    assert.deepEqual((await read(mug))?.['name'], ' Outer space ');
  });

  test('begins with the price as the locale writes it, and takes it either way', async (t) => {
    const catalogue = await openCatalogue(t, { currency: 'KWD' });
    const { visitor, create, read, server, sellerId } = catalogue;
    const mug = await create({ price: 1_234.5 });
    await server.store.setAccountSettings(
      sellerId, { locale: 'de-DE', timeZone: 'UTC', lowStock: 20 }, '',
    );
    await visitor.get(mug.path);
    assert.equal(visitor.valueOf('price'), '1234,500');
    assert.match(readText(visitor.page?.text ?? ''), /Price 1\.234,500 KWD Stock 7 low/);
    for (const [price, kept] of [['7,125', 7.125], ['8.5', 8.5]] as const) {
      assert.equal((await edit(catalogue, mug, { price })).status, 303);
      assert.equal((await read(mug))?.['price'], kept);
    }
    const refused = await edit(catalogue, mug, { price: '1.234' });
    assert.match(readFaults(refused)['price'] ?? '', /Could mean 1234 or 1,234\./);
  });

  test('that is sent twice is made once, and is no conflict', async (t) => {
    const { visitor, create, read, sync } = await openCatalogue(t);
    const mug = await create();
    await visitor.get(mug.path);
    const body = new URLSearchParams({
      csrf: visitor.valueOf('csrf') ?? '', version: visitor.valueOf('version') ?? '',
      name: 'Cup', category: 'Bar', sku: 'CUP', price: '2.5',
    });
    const answers = await Promise.all([0, 1, 2].map(() => visitor.post(mug.path, body)));
    await sync([{ id: mug.id, set: 1 }]);
    answers.push(await visitor.post(mug.path, body));
    assert.deepEqual(answers.map(({ status }) => status), [303, 303, 303, 303]);
    assert.equal((await read(mug))?.['position'], 3); // created, edited, stock
  });

  test('with faults is refused at its fields, and keeps what was typed', async (t) => {
    const catalogue = await openCatalogue(t);
    const { visitor, create, read, patch } = catalogue;
    const mug = await create();
    await create({ sku: 'TAKEN' });
    const before = await read(mug);
    const faulty: Fields = { name: '', category: 'x'.repeat(101), sku: 'A\u200bB', price: '1.234' };
    const answer = await edit(catalogue, mug, faulty);
    assertPage(answer, 422);
    assert.deepEqual(Object.keys(readFaults(answer)), ['name', 'category', 'sku', 'price']);
    for (const [name, value] of Object.entries(faulty)) {
      assert.equal(visitor.valueOf(name), value, name);
    }
    const taken = await edit(catalogue, mug, { sku: 'TAKEN' });
    assertPage(taken, 422);
    assert.match(readFaults(taken)['sku'] ?? '', /already have a product with the SKU "TAKEN"/);
    assert.equal(visitor.valueOf('sku'), 'TAKEN');
    assert.deepEqual(await read(mug), before);
    // Corrected later, it is still made from the version that its first page showed.
    await patch(mug, { price: 99 });
    assertPage(await visitor.submit({ sku: 'FREE' }, { action: mug.path }), 409);
    await visitor.get(mug.path);
    assertPage(await visitor.submit({ csrf: 'x' }, { action: mug.path }), 403);
  });
});

describe('an edit of what somebody else has changed', () => {
  test('shows both versions, and what differs', async (t) => {
    const { visitor, create, patch, read } = await openCatalogue(t);
    const mug = await create({ name: 'Mug', category: 'Kitchen', sku: 'M', price: 1 });
    await visitor.get(mug.path);
    await patch(mug, { name: 'Beaker', price: 3 });
    const theirs = await read(mug);
    const answer = await visitor.submit({ name: 'Cup', price: '2,5' }, { action: mug.path });
    assertPage(answer, 409);
    assert.deepEqual(readRows(answer), [
      ['Name', 'Beaker', 'Cup different'], ['Category', 'Kitchen', 'Kitchen'], ['SKU', 'M', 'M'],
      ['Price', '3.00', '2.50 different'],
    ]);
    assert.ok(answer.text.includes(`<a class="button" href="${mug.path}">Keep the other one</a>`));
    assert.deepEqual(await read(mug), theirs);
  });

  test('can be saved over it, unless it changes once more', async (t) => {
    const { visitor, create, patch, read } = await openCatalogue(t);
    const mug = await create({ name: 'Mug', price: 1 });
    await visitor.get(mug.path);
    await patch(mug, { price: 3 });
    assertPage(await visitor.submit({ name: 'Cup' }, { action: mug.path }), 409);
    await patch(mug, { price: 4 });
    const again = await visitor.submit({});
    assertPage(again, 409);
    assert.deepEqual(readRows(again).at(-1), ['Price', '4.00', '1.00 different']);
    assert.equal((await visitor.submit({})).status, 303);
    const { name, price } = await read(mug) ?? {};
    assert.deepEqual([name, price], ['Cup', 1]);
  });

  test('is seen, too, where that came at the last moment', async (t) => {
    const { visitor, create, patch, sync, read, server } = await openCatalogue(t);
    const mug = await create({ name: 'Mug', price: 1 });
    const save = server.store.patchProduct.bind(server.store);
    let before = async (): Promise<void> => {};
    t.mock.method(server.store, 'patchProduct', async (...args: Parameters<typeof save>) => {
      if (args[0].keyId === PORTAL_KEY_ID) await before();
      return save(...args);
    });
    let stock = 100;
    const sell = () => sync([{ id: mug.id, set: stock -= 1 }]);
    const tryEdit = async (name: string) => {
      await visitor.get(mug.path);
      return visitor.submit({ name }, { action: mug.path });
    };
    before = async () => { if (stock > 95) await sell(); };
    assert.equal((await tryEdit('Cup')).status, 303);
    before = () => patch(mug, { price: 2 });
    assertPage(await tryEdit('Jar'), 409);
    before = sell;
    const refused = await tryEdit('Jar');
    assertPage(refused, 503);
    assert.match(readText(refused.text), /moves all the time/);
    const { name, price, stock: last } = await read(mug) ?? {};
    assert.deepEqual([name, price, last], ['Cup', 2, 85]);
  });

  test('is none where both typed the same', async (t) => {
    const { visitor, create, patch } = await openCatalogue(t);
    const mug = await create();
    await visitor.get(mug.path);
    await patch(mug, { name: 'Cup' });
    assert.equal((await visitor.submit({ name: 'Cup' }, { action: mug.path })).status, 303);
  });

  test('offers to create the product anew where it was deleted', async (t) => {
    const { visitor, create, send, read } = await openCatalogue(t);
    const mug = await create({ sku: 'M', stock: 7 });
    await visitor.get(mug.path);
    await send({ method: 'DELETE', path: `/api/v1/products/${mug.id}` });
    const answer = await visitor.submit({ name: 'Cup', price: '2,5' }, { action: mug.path });
    assertPage(answer, 404);
    assert.match(readText(answer.text), /was deleted, and nothing was saved/);
    assert.deepEqual(
      ['name', 'sku', 'price', 'stock'].map((name) => visitor.valueOf(name)),
      ['Cup', 'M', '2,5', '0'],
    );
    assert.equal((await visitor.submit({ stock: '3' })).status, 303);
    assert.match(visitor.page?.headers.location ?? '', /done=created/);
    assert.equal(await read(mug), undefined);
    assert.equal((await send({ path: '/api/v1/products' })).json().products[0].name, 'Cup');
  });
});

test('stays within 50 KiB whatever stands on it, and escapes it', async (t) => {
  const catalogue = await openCatalogue(t);
  const { visitor, create, sync, patch } = catalogue;
  for (const name of HOSTILE_NAMES) {
    const category = [...name].slice(0, 100).join('');
    const mug = await create({ name, category, stock: 1e9, price: 999_999_999_999.99 });
    for (let n = 0; n < 250; n += 25) {
      const source = [...name].slice(0, 64).join('');
      await sync(Array.from({ length: 25 }, (_, m) => ({ id: mug.id, set: (n + m) * 1e6 })), {
        reason: [...name].slice(0, 200).join(''), source,
      });
    }
    assertPage(await visitor.get(mug.path));
    assert.doesNotMatch(visitor.page?.text ?? '', /<script>|<img|onmouseover='|<h1>&lt;/);
    const refused = await edit(catalogue, mug, { price: name, sku: `${'"'.repeat(64)}x` });
    assertPage(refused, 422);
    await visitor.get(mug.path);
    await patch(mug, { price: 5 });
    assertPage(await visitor.submit({ name: '"'.repeat(200) }, { action: mug.path }), 409);
    assertPage(await visitor.get(`${mug.path}/delete`));
  }
});

test('writes for those who are not signed in any more nothing at all', async (t) => {
  const { visitor, create, read, server } = await openCatalogue(t);
  const mug = await create();
  const before = await read(mug);
  await visitor.get(mug.path);
  const csrf = visitor.valueOf('csrf') ?? '';
  await visitor.submit({}, { action: '/portal/sign-out' });
  const late = new Visitor(server.port);
  const answer = await late.post(mug.path, new URLSearchParams({ csrf, name: 'x' }));
  assert.deepEqual([answer.status, answer.headers.location], [303, '/portal/sign-in']);
  assert.deepEqual(await read(mug), before);
});
