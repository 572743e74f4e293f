/** The page of stock movements across products, and its export. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Answer } from '../../../support/http.ts';
import { HOSTILE_NAMES, openCatalogue, openOther, readRows } from '../products/catalogue.ts';
import { PageClient, readText } from '../page-client.ts';
import { assertRequiresSignIn, assertPage } from '../page-rules.ts';

const PAGE = '/portal/movements';

async function start(t: TestContext) {
  const catalogue = await openCatalogue(t);
  const { create, sync, patch, send, clock } = catalogue;
  const mug = await create({ name: 'Mug', sku: 'MUG', stock: 10 });
  const jar = await create({ name: 'Jar', sku: 'JAR', stock: 0 });
  await sync([{ sku: 'MUG', adjust: -3 }], { source: 'till', reason: 'sold' });
  await sync([{ sku: 'JAR', set: 5 }, { sku: 'MUG', adjust: -1 }], { reason: 'count' });
  await patch(mug, { price: 3 });
  clock.now += 1_000;
  await send({ method: 'DELETE', path: `/api/v1/products/${jar.id}` });
  return { ...catalogue, mug, jar };
}

/** SKU, before, after and difference of each row. */
function readMovements(page: Answer): string[] {
  return readRows(page).map((cells) => cells.slice(1, 5).join(' '));
}

test('lists the movements of all products, with actor and reason', async (t) => {
  const { user, mug } = await start(t);
  const page = await user.get(PAGE);
  assertPage(page);
  assert.deepEqual(readMovements(page), [
    'JAR 5 0 -5', 'MUG 7 6 -1', 'JAR 0 5 +5', 'MUG 10 7 -3', 'MUG 0 10 +10',
  ]);
  const rows = readRows(page);
  assert.deepEqual(rows[3]?.slice(0, 8),
    ['Mug', 'MUG', '10', '7', '-3', 'sold', 'till', 'My first key']);
  assert.deepEqual(rows[0]?.slice(0, 6), ['deleted', 'JAR', '5', '0', '-5', 'Deleted']);
  assert.ok(page.text.includes(`<a href="${mug.path}">Mug</a>`));
  assert.match(readText(page.text), /1–5 of 5 movements/);
  for (const from of ['/portal/changes', '/portal']) {
    assert.match((await user.get(from)).text, /<a [^>]*href="\/portal\/movements"/, from);
  }
});

test('filters by product, reason, import and dates', async (t) => {
  const { user, mug } = await start(t);
  const list = async (query: string): Promise<string[]> => {
    const page = await user.get(`${PAGE}?${query}`);
    assertPage(page);
    return readMovements(page);
  };
  assert.deepEqual(await list('product=JAR'), ['JAR 5 0 -5', 'JAR 0 5 +5']);
  assert.deepEqual(await list(`product=${mug.id}&reason=sold`), ['MUG 10 7 -3']);
  assert.deepEqual(await list('reason=count'), ['MUG 7 6 -1', 'JAR 0 5 +5']);
  assert.deepEqual(await list('from=2026-01-03'), []);
  assert.deepEqual(await list('from=2026-01-02&to=2026-01-02&reason=sold'), ['MUG 10 7 -3']);
  const [, record = ''] = /\/portal\/imports\/(imp_\w+)/
    .exec((await user.get('/portal/changes?product=JAR')).text) ?? [];
  assert.deepEqual(await list(`import=${record}`), ['MUG 7 6 -1', 'JAR 0 5 +5']);
  assert.match(readText(user.page?.text ?? ''), /Movements of Stock sync/);
  assert.deepEqual(await list('import=imp_1'), []);
  for (const [query, field] of [['product=a%00b', 'product'], ['from=x', 'from']] as const) {
    const page = await user.get(`${PAGE}?${query}`);
    assertPage(page, 400);
    assert.ok(page.text.includes(`id="field-${field}-fault"`), query);
    assert.equal(readMovements(page).length, 5);
  }
});

test('exports exactly what the filter shows', async (t) => {
  const { user, server } = await start(t);
  for (const query of ['', 'product=MUG', 'reason=count&to=2026-01-02', 'product=NONE']) {
    const shown = readMovements(await user.get(`${PAGE}?${query}`));
    const file = await user.get(`${PAGE}/export?${query}&format=csv`);
    assert.equal(file.status, 200);
    assert.match(file.headers['content-type'] ?? '', /^text\/csv/);
    assert.match(file.headers['content-disposition'] ?? '',
      /^attachment; filename="stock-movements-2026-01-02\.csv";/);
    const [head = '', ...lines] = file.text.trimEnd().split('\r\n');
    const columns = head.replace('\ufeff', '').split(',');
    const at = (line: string, name: string) => line.split(',')[columns.indexOf(name)] ?? '';
    assert.deepEqual(lines.map((line) => {
      const delta = at(line, 'delta').replace(/^'/, '');
      return [at(line, 'sku'), at(line, 'before'), at(line, 'after'),
        Number(delta) > 0 ? `+${delta}` : delta].join(' ');
    }), shown, query);
    const lined = await user.get(`${PAGE}/export?${query}&format=ndjson`);
    assert.equal(lined.text.split('\n').length - 1, shown.length, query);
  }
  const rejected = await user.get(`${PAGE}/export?from=x`);
  assert.equal(rejected.status, 400);
  assert.match(readText(rejected.text), /filters are invalid.*Must be a date/);
  assert.equal((await new PageClient(server.port).get(`${PAGE}/export`)).status, 303);
});

test('exports no formulas', async (t) => {
  const { user, create, sync } = await openCatalogue(t);
  await create({ sku: '=1+1', stock: 1 });
  await sync([{ sku: '=1+1', adjust: 1 }], { reason: '=cmd|x', source: '@sum' });
  const { text } = await user.get(`${PAGE}/export?format=csv`);
  assert.doesNotMatch(text, /[,\n"][=@]/);
  assert.match(text, /'=cmd/);
});

test('shows nothing of another shop', async (t) => {
  const { server, mug } = await start(t);
  const { user } = await openOther(server);
  for (const query of ['', '?product=MUG', `?product=${mug.id}`]) {
    const page = await user.get(`${PAGE}${query}`);
    assertPage(page);
    assert.deepEqual(readRows(page), []);
    assert.match(readText(page.text), /No (stock movements yet|movements match)\./);
    assert.doesNotMatch((await user.get(`${PAGE}/export${query}`)).text, /MUG/);
  }
  await assertRequiresSignIn(server, ['/movements', '/movements/export']);
});

test('stays small and escapes hostile texts', async (t) => {
  const { user, create, sync } = await openCatalogue(t);
  for (const [n, name] of HOSTILE_NAMES.entries()) {
    const sku = `<b>${n}${'"'.repeat(50)}`;
    await create({ name, sku, stock: 1e9 });
    for (const adjust of [-1, -2]) {
      await sync([{ sku, adjust }], { source: '<i>'.repeat(21), reason: '&'.repeat(100) });
    }
  }
  const page = await user.get(PAGE);
  assertPage(page);
  assert.equal(readRows(page).length, 25);
  assert.doesNotMatch(page.text, /<(?:b|i|img)>|<img|<script>/);
});

test('are linked from the page of a product, as CSV', async (t) => {
  const { user, mug } = await start(t);
  const { text } = await user.get(mug.path);
  const [, csv = ''] = /<a href="([^"]*)">Download as CSV/.exec(text) ?? [];
  const file = await user.get(csv);
  assert.equal(file.headers['content-type'], 'text/csv; charset=utf-8');
  assert.equal(file.text.trimEnd().split('\r\n').length, 1 + 3);
});
