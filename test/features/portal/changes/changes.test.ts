/** The changes page: descriptions, filters and pages. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseProductId, PORTAL_KEY_ID, PROGRAM_KEY_ID } from '../../../../src/domain/id.ts';
import { makeNewProduct } from '../../../store/contract/fixture.ts';
import { makeClock } from '../../../support/clock.ts';
import type { Answer } from '../../../support/http.ts';
import { ownerOf } from '../../../support/owner.ts';
import { startServer } from '../../../support/server.ts';
import { assertRequiresSignIn, assertPage } from '../page-rules.ts';
import { openShop, readText, type Shop } from '../page-client.ts';

const MUG = { name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 };

test('explains how to start without changes', async (t) => {
  const { shop } = await start(t);
  const page = await shop.user.get('/portal/changes');
  assertPage(page);
  assert.match(readText(page.text), /No changes yet Create a product/);
  await assertRequiresSignIn({ port: shop.user.port }, ['/changes']);
});

describe('a change', () => {
  test('is described, with its key and a link to the product', async (t) => {
    const { shop, clock } = await start(t);
    const { id } = (await call(shop, 'POST', '/products', MUG)).json();
    clock.now += 60_000;
    await call(shop, 'PATCH', `/products/${id}`, { price: 14.5, name: 'Blue cup', stock: 39 });
    await adjust(shop, { sku: MUG.sku, adjust: -2, reason: 'sold' }, 'erp');
    const page = await shop.user.get('/portal/changes');
    assertPage(page);
    const rows = readRows(page);
    assert.match(rows[0] ?? '', new RegExp(
      '^Stock: 39 → 37 \\(-2\\) Reason: sold Source: erp Stock sync from erp MUG-1 .* 3$',
    ));
    assert.match(rows[1] ?? '', new RegExp(
      '^Name: Blue mug → Blue cup Price: €12\\.00 → €14\\.50 Stock: 40 → 39 \\(-1\\)'
      + ' MUG-1 now My first key 2$',
    ));
    assert.match(rows[2] ?? '', /^Created: Blue mug , Kitchen , €12\.00, stock 40 MUG-1 .* 1$/);
    assert.ok(page.text.includes(`<a href="/portal/products/${id}">`));
  });

  test('names the account that made it in the portal, or "Portal" without one', async (t) => {
    const { shop, server } = await start(t);
    await shop.user.get('/portal/products/new');
    await shop.user.submit({ ...MUG, price: '12', stock: '40' });
    const { store } = server;
    const { name = '' } = await store.findAccount(ownerOf(shop.sellerId)) ?? {};
    await store.createProduct({ sellerId: shop.sellerId, keyId: PORTAL_KEY_ID }, makeNewProduct());
    const rows = readRows(await shop.user.get('/portal/changes'));
    assert.match(rows[0] ?? '', / Portal 2$/);
    assert.ok((rows[1] ?? '').endsWith(` ${name} 1`));
  });

  test('names the actor of a change without a key', async (t) => {
    const { shop, server: { store } } = await start(t);
    const program = { sellerId: shop.sellerId, keyId: PROGRAM_KEY_ID };
    const { id } = await store.createProduct(program, makeNewProduct());
    const erp = { ...program, actorName: 'erp <sync>' };
    await store.patchProduct(erp, { id }, { stock: 3 }, {});
    const rows = readRows(await shop.user.get('/portal/changes'));
    assert.match(rows[0] ?? '', / erp <sync> 2$/);
    assert.match(rows[1] ?? '', / Program 1$/);
    const { id: productId } = (await call(shop, 'GET', '/products')).json().products[0];
    const ledger = await shop.user.get(`/portal/products/${productId}`);
    assert.match(readText(ledger.text), /erp <sync>/);
  });

  test('has no link to a deleted product', async (t) => {
    const { shop } = await start(t);
    const { id } = (await call(shop, 'POST', '/products', MUG)).json();
    await call(shop, 'DELETE', `/products/${id}`);
    const page = await shop.user.get('/portal/changes');
    assert.match(readRows(page)[0] ?? '', /Deleted: Blue mug , Kitchen , €12\.00, stock 40/);
    assert.ok(!page.text.includes(`/products/${id}`));
  });

  test('is compared with the previous snapshot, skipping stock movements',
    async (t) => {
      const { shop } = await start(t);
      const { id } = (await call(shop, 'POST', '/products', MUG)).json();
      for (let n = 0; n < 5; n += 1) await adjust(shop, { id, adjust: 1 });
      await call(shop, 'PATCH', `/products/${id}`, { category: 'Cups', sku: 'CUP-1' });
      const [row] = readRows(await shop.user.get('/portal/changes'));
      assert.match(row ?? '', /^Category: Kitchen → Cups SKU: MUG-1 → CUP-1 CUP-1 .* 7$/);
    });

  test('stays small and escapes hostile texts', async (t) => {
    const { shop } = await start(t);
    for (let n = 0; n < 25; n += 1) {
      const hostile = (mark: string): string =>
        `<img src=x>"'&${mark}${'&😀'.repeat(200)}`.slice(0, 100);
      const product = { ...MUG, name: hostile('a'), category: hostile('b'), sku: `<b>${n}` };
      const { id } = (await call(shop, 'POST', '/products', product)).json();
      await call(shop, 'PATCH', `/products/${id}`, {
        name: hostile('c'), category: hostile('d'), sku: `<b>${n}&'"`.padEnd(64, '&'), price: 999,
      });
      await adjust(shop, { id, adjust: -1, reason: hostile('e') }, '<i>'.repeat(21));
    }
    for (const filter of ['', 'type=updated', 'type=stock', 'type=created', 'product=%3Cb%3E1']) {
      const page = await shop.user.get(`/portal/changes?${filter}`);
      assertPage(page);
      assert.doesNotMatch(page.text, /<(?:img|b|i)>|<img/);
    }
  });
});

describe('an import', () => {
  test('is one line, also beside the error of an unknown type', async (t) => {
    const { shop } = await start(t);
    await importProducts(shop, 3);
    for (const [path, status] of [['/changes', 200], ['/changes?type=x', 400]] as const) {
      const page = await shop.user.get(`/portal${path}`);
      assert.equal(page.status, status);
      assert.equal(readRows(page).length, 1);
    }
  });

  test('is one row that expands to its first changes', async (t) => {
    const { shop } = await start(t);
    await call(shop, 'POST', '/products', MUG);
    const record = await importProducts(shop, 1_204);
    await call(shop, 'PATCH', '/products/sku/MUG-1', { price: 13 });
    const page = await shop.user.get('/portal/changes');
    assertPage(page);
    const [, line = '', ...rest] = readRows(page);
    assert.match(line, new RegExp('^Import shop\\.csv : 1,204 changes'
      + ' P-1 Created: P1 , Kitchen , €1\\.00, stock 1 P-2 Created: .* P-3 Created: .*'
      + ' All 1,204 changes About this import now My first key 1,205$'));
    assert.ok(!line.includes('P-4'));
    assert.match(page.text, /<details class="import"><summary>/);
    assert.equal(rest.length, 1);
    const all = await shop.user.get(`/portal/changes?import=${record}`);
    assertPage(all);
    assert.match(readText(all.text), /Changes of Import shop\.csv/);
    assert.deepEqual(readRows(all).length, 25);
    assert.match(readRows(all)[0] ?? '', /^Created: P1204 .* 1,205$/);
    assert.match(all.text, new RegExp(`import=${record}&amp;cursor=[\\w-]+" rel="next"`));
    assert.match(readText(all.text), / 1–25 of 1,204 changes Next page/);
  });

  test('is linked from each of its changes in a filtered list', async (t) => {
    const { shop } = await start(t);
    await importProducts(shop, 2);
    const link = /<p class="quiet"><a href="\/portal\/imports\/imp_\w+"><bdi>Import shop\.csv/;
    const filtered = await shop.user.get('/portal/changes?product=P-1');
    assert.match(filtered.text, link);
    assert.doesNotMatch(filtered.text, /<details class="import"/);
    await adjust(shop, { sku: 'P-1', adjust: 1 });
    const [row] = readRows(await shop.user.get('/portal/changes'));
    assert.match(row ?? '', /^Stock: 1 → 2 \(\+1\) Stock sync P-1 .* 3$/);
  });

  test('is marked as unfinished until it ends', async (t) => {
    const { server: { store }, shop } = await start(t);
    const record = { kind: 'products', fileName: 'half.csv' } as const;
    await store.importProducts({
      sellerId: shop.sellerId, keyId: PROGRAM_KEY_ID,
      import: { id: undefined, record, counts: {}, isLast: false },
    }, [makeNewProduct(), makeNewProduct()], 'create');
    const [row] = readRows(await shop.user.get('/portal/changes'));
    assert.match(row ?? '', /^Import half\.csv : 2 changes unfinished /);
  });

  test('of another shop, or with an unknown id, has no changes', async (t) => {
    const { server, shop } = await start(t);
    const theirs = await importProducts(await openShop(server), 2);
    for (const id of [theirs, 'imp_1', '<b>']) {
      const page = await shop.user.get(`/portal/changes?import=${encodeURIComponent(id)}`);
      assertPage(page);
      assert.match(readText(page.text), /No changes match\./);
    }
  });

  test('stays small and escapes hostile texts', async (t) => {
    const { server: { store }, shop } = await start(t);
    const hostile = `<img src=x>"'&${'&😀'.repeat(80)}`;
    const fileName = hostile.slice(0, 200).toWellFormed();
    const sku = (n: number) => `${n}<b>${'"'.repeat(50)}`;
    for (let n = 0; n < 30; n += 1) {
      await store.importProducts({
        sellerId: shop.sellerId, keyId: PROGRAM_KEY_ID,
        import: {
          id: undefined, record: { kind: 'products', fileName }, counts: {}, isLast: n % 2 === 0,
        },
      }, [1, 2, 3].map((row) => makeNewProduct({
        sku: sku(row), name: `${n}${hostile}`.slice(0, 180).toWellFormed(),
        category: `${n}${hostile}`.slice(0, 90).toWellFormed(),
        price: n,
      })), 'upsert');
    }
    for (const path of ['/changes', '/imports', '/changes?type=updated']) {
      const page = await shop.user.get(`/portal${path}`);
      assertPage(page);
      assert.doesNotMatch(page.text, /<(?:img|b|i)>|<img/);
    }
  });
});

describe('the changes', () => {
  test('are paged newest first, from any position', async (t) => {
    const { shop } = await start(t);
    await call(shop, 'POST', '/products', MUG);
    for (let n = 0; n < 59; n += 1) await adjust(shop, { sku: MUG.sku, adjust: 1 });
    const pages: number[][] = [];
    for (let path: string | undefined = '/portal/changes'; path !== undefined;) {
      const page: Answer = await shop.user.get(path);
      assertPage(page);
      pages.push(readPositions(page));
      path = /href="([^"]*)" rel="next"/.exec(page.text)?.[1];
    }
    assert.deepEqual(pages.map(({ length }) => length), [25, 25, 10]);
    assert.deepEqual(pages.flat(), Array.from({ length: 60 }, (_, index) => 60 - index));
    const jump = await shop.user.get('/portal/changes?up_to=7');
    assert.deepEqual(readPositions(jump), [7, 6, 5, 4, 3, 2, 1]);
  });

  test('can be filtered by type and product', async (t) => {
    const { shop } = await start(t);
    const { id } = (await call(shop, 'POST', '/products', MUG)).json();
    await call(shop, 'POST', '/products', { ...MUG, sku: 'CUP-1' });
    await adjust(shop, { sku: 'MUG-1', adjust: 1 });
    await adjust(shop, { sku: 'CUP-1', adjust: 1 });
    await call(shop, 'PATCH', `/products/${id}`, { name: 'Mug' });
    const list = async (query: string) =>
      readPositions(await shop.user.get(`/portal/changes?${query}`));
    assert.deepEqual(await list('type=created'), [2, 1]);
    assert.deepEqual(await list('type=stock&product=CUP-1'), [4]);
    assert.deepEqual(await list('product=MUG-1'), [5, 3, 1]);
    assert.deepEqual(await list(`product=${id}&up_to=4`), [3, 1]);
    assert.deepEqual(await list('type=deleted'), []);
    assert.match(readText(shop.user.page?.text ?? ''), /No changes match\. Show all changes/);
  });

  test('keep their filters on the next page', async (t) => {
    const { shop } = await start(t);
    const { id } = (await call(shop, 'POST', '/products', MUG)).json();
    for (let n = 0; n < 30; n += 1) await adjust(shop, { id, adjust: 1 });
    const first = await shop.user.get(`/portal/changes?type=stock&product=${id}`);
    const next = /href="([^"]*)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    assert.deepEqual(readPositions(await shop.user.get(next)), [6, 5, 4, 3, 2]);
  });

  test('ignore invalid filters, with an error at their fields', async (t) => {
    const { shop } = await start(t);
    await call(shop, 'POST', '/products', MUG);
    for (const [query, at] of [
      ['type=moved', 'type'], ['product=a%00b', 'product'], ['up_to=x', 'up_to'],
      ['up_to=0', 'up_to'], [`up_to=${'9'.repeat(16)}`, 'up_to'],
    ] as const) {
      const page = await shop.user.get(`/portal/changes?${query}`);
      assertPage(page, 400);
      assert.ok(page.text.includes(`id="field-${at}-fault"`), query);
      assert.deepEqual(readPositions(page), [1], query);
    }
  });

  test('show where the history begins after pruning', async (t) => {
    const { server, shop, clock } = await start(t);
    await call(shop, 'POST', '/products', MUG);
    await adjust(shop, { sku: MUG.sku, adjust: 1 });
    clock.now += 60_000;
    await server.store.pruneHistory(clock.now);
    await adjust(shop, { sku: MUG.sku, adjust: 1 });
    const page = await shop.user.get('/portal/changes');
    assert.deepEqual(readPositions(page), [3]);
    assert.match(readText(page.text), /starts here\. Older changes .* Removed up to position 2/);
    const none = readText((await shop.user.get('/portal/changes?up_to=2')).text);
    assert.match(none, /No changes match.*Removed up to position 2/);
  });

  test("are only those of the user's shop", async (t) => {
    const { server, shop } = await start(t);
    const other = await openShop(server);
    const { id } = (await call(other, 'POST', '/products', MUG)).json();
    assert.ok(parseProductId(other.sellerId, id));
    for (const query of ['', `?product=${id}`, `?product=${MUG.sku}`]) {
      const page = await shop.user.get(`/portal/changes${query}`);
      assertPage(page);
      assert.deepEqual(readPositions(page), []);
      assert.ok(!page.text.includes('Blue mug'));
    }
  });
});

async function start(t: Parameters<typeof startServer>[0]) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  return { server, clock, shop: await openShop(server) };
}

async function call(shop: Shop, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await shop.send({
    method, path: `/api/v1${path}`, headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(answer.status < 300, answer.text);
  return answer;
}

/** Imports this many products from a file, and returns the id of the import. */
async function importProducts(shop: Shop, count: number): Promise<string> {
  const rows = Array.from({ length: count }, (_, n) => `P${n + 1},Kitchen,P-${n + 1},1,1\n`);
  const answer = await shop.send({
    method: 'POST', path: '/api/v1/products/import?file_name=shop.csv',
    headers: { 'content-type': 'text/csv' },
    body: `name,category,sku,price,stock\n${rows.join('')}`,
  });
  return JSON.parse(answer.text.trimEnd().split('\n').at(-1) ?? '').summary.import;
}

async function adjust(shop: Shop, change: Readonly<Record<string, unknown>>, source?: string) {
  const answer = await call(shop, 'POST', '/stock', { changes: [change], source });
  assert.equal(answer.json().applied, 1, answer.text);
}

/** The texts of the table rows, without the label of the position. */
function readRows(page: Answer): string[] {
  const body = /<tbody>(.*)<\/tbody>/s.exec(page.text)?.[1] ?? '';
  return body.split('</tr>').slice(0, -1)
    .map((row) => readText(row).replace(/Details Position (?=\S+$)/, ''));
}

function readPositions(page: Answer): number[] {
  return readRows(page).map((row) => Number(row.split(' ').at(-1)));
}
