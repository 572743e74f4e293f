/** The page of a product in the portal, its edits and its deletion. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatProductId, PORTAL_KEY_ID, type ProductId } from '../../../../src/domain/id.ts';
import { assertHidden, assertPage } from '../page-rules.ts';
import { type Fields, readText, PageClient } from '../page-client.ts';
import {
  type Catalogue, type Created, HOSTILE_NAMES, openCatalogue, openOther, readFieldErrors, readRows,
} from './catalogue.ts';
import { ownerOf } from '../../../support/owner.ts';

/** Opens the page of a product and sends its edit form. */
async function edit({ user }: Pick<Catalogue, 'user'>, { path }: Created, fields: Fields) {
  await user.get(path);
  return user.submit(fields, { action: path });
}

test('shows a product, its stock over time, and the keys that changed it', async (t) => {
  const { user, create, sync, clock } = await openCatalogue(t);
  const mug = await create({ name: 'Mug', sku: 'M', category: 'Kitchen', price: 12.5, stock: 9 });
  clock.now += 60_000;
  await sync([{ id: mug.id, adjust: -6 }], { source: 'till', reason: 'sold' });
  const answer = await user.get(mug.path);
  assertPage(answer);
  const text = readText(answer.text);
  assert.match(text, /SKU M Category Kitchen Price €12\.50 Stock 3 low/);
  assert.match(text, new RegExp(`ID ${mug.id}`));
  assert.deepEqual(readRows(answer), [
    ['now', '-6', '9 → 3', 'sold', 'till', 'My first key', 'Stock sync from till'],
    ['1 minute ago', '+9', '0 → 9', 'Created', '', 'My first key', ''],
  ]);
  assert.match(answer.text, /<svg class="plot"[^>]* role="img"/);
  assert.match(answer.text,
    /from 2 Jan 2026, 04:04:05 CET to .*: minimum 3, maximum 9, 3 at the end/);
});

test('pages through the movements of one product', async (t) => {
  const { user, create, sync } = await openCatalogue(t);
  const mug = await create({ stock: 0 });
  assert.match(readText((await user.get(mug.path)).text), /No stock movements yet/);
  const other = await create({ stock: 0 });
  for (let n = 1; n <= 60; n += 1) {
    await sync([{ id: mug.id, set: n }, { id: other.id, set: 1_000 + n }]);
  }
  const seen: string[] = [];
  for (let path: string | undefined = mug.path; path !== undefined;) {
    const answer = await user.get(path);
    assertPage(answer);
    seen.push(...readRows(answer).map(([, , moved = '']) => moved));
    path = /href="([^"]*)#movements" rel="next"/.exec(answer.text)?.[1];
  }
  assert.deepEqual(seen, Array.from({ length: 60 }, (_, n) => `${59 - n} → ${60 - n}`));
  for (const cursor of ['x', '-1', '9'.repeat(30)]) {
    const answer = await user.get(`${mug.path}?cursor=${cursor}`);
    assertPage(answer);
    assert.equal(readRows(answer)[0]?.[2], '59 → 60');
  }
});

test('answers identically for products of other shops and unknown ids', async (t) => {
  const catalogue = await openCatalogue(t);
  const { server, create, read } = catalogue;
  const mug = await create({ stock: 5 });
  const other = await openOther(server);
  const shop = { ...other, key: '' as never };
  const own = formatProductId(other.sellerId, 1 as ProductId);
  await assertHidden(shop, {
    get: ['', '/delete'], post: ['/stock', '/adjust', '/delete'], foreign: mug.path,
    unknown: [`/portal/products/${own}`, '/portal/products/prd_x', '/portal/products/%00'],
  });
  // A valid form, too.
  await other.user.get('/portal/products/new');
  const fields = {
    csrf: other.user.valueOf('csrf') ?? '', once: crypto.randomUUID(), name: 'Mine',
    category: 'x', sku: 'x', price: '1', version: '', amount: '1', way: 'take', set: '0',
    expect: '5', position: '1',
  };
  for (const end of ['', '/stock', '/adjust', '/delete']) {
    const texts = [];
    for (const path of [mug.path, `/portal/products/${own}`]) {
      const answer = await other.user.post(path + end, new URLSearchParams(fields));
      assertPage(answer, 404);
      texts.push(answer.text.replace(/name="(?:once|back)" value="[^"]*"/g, ''));
    }
    assert.equal(texts[0], texts[1], end);
  }
  assert.deepEqual((await read(mug))?.['stock'], 5);
});

describe('an edit', () => {
  test('saves the entered values without touching the stock', async (t) => {
    const catalogue = await openCatalogue(t);
    const { user, create, sync, read } = catalogue;
    const mug = await create({ price: 1, stock: 9 });
    await user.get(mug.path);
    await sync([{ id: mug.id, adjust: -2 }]); // a sale during the edit
    const saved = await user.submit(
      { name: 'Cup', category: 'Bar', sku: 'CUP', price: '2,50' }, { action: mug.path },
    );
    assert.equal(saved.status, 303);
    assert.match(readText((await user.follow()).text), /Cup saved\./);
    const { name, category, sku, price, stock } = await read(mug) ?? {};
    assert.deepEqual([name, category, sku, price, stock], ['Cup', 'Bar', 'CUP', 2.5, 7]);
  });

  test('saves nothing if nothing was changed', async (t) => {
    const catalogue = await openCatalogue(t, { currency: 'JPY' });
    const { create, read } = catalogue;
    const mug = await create({ name: ' Outer space ', price: 1200 });
    const before = await read(mug);
    assert.equal((await edit(catalogue, mug, {})).status, 303);
    assert.deepEqual(await read(mug), before);
    assert.equal((await edit(catalogue, mug, { price: '1300' })).status, 303);
    assert.deepEqual((await read(mug))?.['name'], ' Outer space ');
  });

  test('shows the price in the locale, and accepts either decimal separator', async (t) => {
    const catalogue = await openCatalogue(t, { currency: 'KWD' });
    const { user, create, read, server, sellerId } = catalogue;
    const mug = await create({ price: 1_234.5 });
    const settings = { locale: 'de-DE', timeZone: 'UTC' };
    await server.store.setAccountSettings(ownerOf(sellerId), settings, {});
    await server.store.setShopSettings(sellerId, { lowStock: 20 }, {});
    await user.get(mug.path);
    assert.equal(user.valueOf('price'), '1234,500');
    assert.match(readText(user.page?.text ?? ''), /Price 1\.234,500 KWD Stock 7 low/);
    for (const [price, kept] of [['7,125', 7.125], ['8.5', 8.5]] as const) {
      assert.equal((await edit(catalogue, mug, { price })).status, 303);
      assert.equal((await read(mug))?.['price'], kept);
    }
    const rejected = await edit(catalogue, mug, { price: '1.234' });
    assert.match(readFieldErrors(rejected)['price'] ?? '', /Could mean 1234 or 1,234\./);
  });

  test('is saved once if it is sent twice, without a conflict', async (t) => {
    const { user, create, read, sync } = await openCatalogue(t);
    const mug = await create();
    await user.get(mug.path);
    const body = new URLSearchParams({
      csrf: user.valueOf('csrf') ?? '', base: user.valueOf('base') ?? '',
      name: 'Cup', category: 'Bar', sku: 'CUP', price: '2.5',
    });
    const answers = await Promise.all([0, 1, 2].map(() => user.post(mug.path, body)));
    await sync([{ id: mug.id, set: 1 }]);
    answers.push(await user.post(mug.path, body));
    assert.deepEqual(answers.map(({ status }) => status), [303, 303, 303, 303]);
    assert.equal((await read(mug))?.['position'], 3); // created, edited, stock
  });

  test('keeps fields that its form lacks', async (t) => {
    const catalogue = await openCatalogue(t);
    const mug = await catalogue.create({ name: 'Mug', category: 'Kitchen', price: 1 });
    const rejected = await edit(catalogue, mug, { category: undefined, price: 'x' });
    assert.deepEqual(Object.keys(readFieldErrors(rejected)), ['price']);
    assert.equal(catalogue.user.valueOf('category'), 'Kitchen');
    assert.equal((await edit(catalogue, mug, { category: undefined, price: '2' })).status, 303);
    const { category, price } = await catalogue.read(mug) ?? {};
    assert.deepEqual([category, price], ['Kitchen', 2]);
  });

  test('is rejected at its fields if it is invalid, and keeps the entered values', async (t) => {
    const catalogue = await openCatalogue(t);
    const { user, create, read, patch } = catalogue;
    const mug = await create();
    await create({ sku: 'TAKEN' });
    const before = await read(mug);
    const invalid: Fields = {
      name: '', category: 'x'.repeat(101), sku: 'A\u200bB', price: '1.234',
    };
    const answer = await edit(catalogue, mug, invalid);
    assertPage(answer, 422);
    assert.deepEqual(Object.keys(readFieldErrors(answer)), ['name', 'category', 'sku', 'price']);
    for (const [name, value] of Object.entries(invalid)) {
      assert.equal(user.valueOf(name), value, name);
    }
    const taken = await edit(catalogue, mug, { sku: 'TAKEN' });
    assertPage(taken, 422);
    assert.match(
      readFieldErrors(taken)['sku'] ?? '', /already have a product with the SKU "TAKEN"/,
    );
    assert.equal(user.valueOf('sku'), 'TAKEN');
    assert.deepEqual(await read(mug), before);
    // The corrected edit keeps what someone else changed since the form was opened.
    await patch(mug, { price: 99 });
    assert.equal((await user.submit({ sku: 'FREE' }, { action: mug.path })).status, 303);
    const { sku, price } = await read(mug) ?? {};
    assert.deepEqual([sku, price], ['FREE', 99]);
    await user.get(mug.path);
    assertPage(await user.submit({ csrf: 'x' }, { action: mug.path }), 403);
  });
});

describe('a deletion', () => {
  test('asks for confirmation, and deletes only the version that it showed', async (t) => {
    const { user, create, read, server, sellerId } = await openCatalogue(t);
    const mug = await create({ name: 'Mug', stock: 9 });
    await user.get(mug.path);
    assert.ok(user.page?.text.includes(`href="${mug.path}/delete"`));
    const asked = await user.get(`${mug.path}/delete`);
    assertPage(asked);
    assert.match(readText(asked.text), /Delete this product\? Name Mug SKU .* Stock 9/);
    assert.ok(await read(mug));
    assert.equal((await user.submit({}, { action: `${mug.path}/delete` })).status, 303);
    const list = await user.follow();
    assertPage(list);
    assert.match(readText(list.text), /Mug deleted\./);
    assert.equal(await read(mug), undefined);
    for (const path of [mug.path, `${mug.path}/delete`]) assertPage(await user.get(path), 404);
    const { changes } = await server.store.listChanges(sellerId, { after: 1, limit: 10 });
    assert.deepEqual(changes.map(({ type, keyId }) => [type, keyId]), [['deleted', PORTAL_KEY_ID]]);
  });

  test('asks again if the product was changed since', async (t) => {
    const { user, create, read, sync } = await openCatalogue(t);
    const mug = await create({ stock: 9 });
    await user.get(`${mug.path}/delete`);
    await sync([{ id: mug.id, set: 500 }]);
    const rejected = await user.submit({}, { action: `${mug.path}/delete` });
    assertPage(rejected, 409);
    assert.match(readText(rejected.text), /product has changed, so it was not deleted.* Stock 500/);
    assert.ok(await read(mug));
    for (const position of ['', 'x', '1', '-1', '2e0', '2.00000000000000001']) {
      const answer = await user.submit({ position }, { action: `${mug.path}/delete` });
      assertPage(answer, 409);
    }
    assertPage(await user.submit({ csrf: 'x' }, { action: `${mug.path}/delete` }), 403);
    await user.get(`${mug.path}/delete`);
    assert.equal((await user.submit({}, { action: `${mug.path}/delete` })).status, 303);
    assert.equal(await read(mug), undefined);
  });

  test('treats a double click as one deletion', async (t) => {
    const { user, create } = await openCatalogue(t);
    const mug = await create();
    await user.get(`${mug.path}/delete`);
    const body = new URLSearchParams(['csrf', 'once', 'position'].map((name) =>
      [name, user.valueOf(name) ?? '']));
    const send = () => user.post(`${mug.path}/delete`, body);
    const answers = [...await Promise.all([send(), send()]), await send()];
    assert.deepEqual(answers.map(({ headers }) => headers.location),
      Array.from({ length: 3 }, () => '/portal/products?change=2'));
  });
});

test('stays within 50 KiB and escapes hostile texts', async (t) => {
  const catalogue = await openCatalogue(t);
  const { user, create, sync, patch } = catalogue;
  for (const [index, name] of HOSTILE_NAMES.entries()) {
    const category = [...name].slice(0, 100).join('');
    const mug = await create({ name, category, stock: 1e9, price: 999_999_999_999.99 });
    for (let n = 0; n < 250; n += 25) {
      const source = [...name].slice(0, 64).join('');
      await sync(Array.from({ length: 25 }, (_, m) => ({ id: mug.id, set: (n + m) * 1e6 })), {
        reason: [...name].slice(0, 200).join(''), source,
      });
    }
    assertPage(await user.get(mug.path));
    assert.doesNotMatch(user.page?.text ?? '', /<script>|<img|onmouseover='|<h1>&lt;/);
    const rejected = await edit(catalogue, mug, { price: name, sku: `${'"'.repeat(64)}x` });
    assertPage(rejected, 422);
    await user.get(mug.path);
    const [theirs, mine] = ['"', "'"].map((quote) => ({
      name: quote.repeat(200), category: quote.repeat(100), sku: `${quote.repeat(60)}${index}`,
    }));
    await patch(mug, theirs ?? {});
    assertPage(await user.submit(mine ?? {}, { action: mug.path }), 409);
    assertPage(await user.get(`${mug.path}/delete`));
  }
});

test('writes nothing after sign-out', async (t) => {
  const { user, create, read, server } = await openCatalogue(t);
  const mug = await create();
  const before = await read(mug);
  await user.get(mug.path);
  const csrf = user.valueOf('csrf') ?? '';
  await user.submit({}, { action: '/portal/sign-out' });
  const late = new PageClient(server.port);
  const answer = await late.post(mug.path, new URLSearchParams({ csrf, name: 'x' }));
  assert.deepEqual([answer.status, answer.headers.location], [303, '/portal/sign-in']);
  assert.deepEqual(await read(mug), before);
});
