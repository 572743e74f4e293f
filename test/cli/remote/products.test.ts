/** `products` and `stock set` and `movements`, against a running server. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test, type TestContext } from 'node:test';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { run as runCommand } from '../../../src/cli/run.ts';
import { run, spawnCommand } from '../../support/command.ts';
import { openShop, type Shop } from '../shop.ts';

/** A shop with this many products, P-0 to P-(n-1). */
async function openStockedShop(t: TestContext, count: number): Promise<Shop> {
  const shop = await openShop(t);
  const rows = Array.from({ length: count }, (_, n) =>
    `P-${n},Product ${n},${n % 2 ? 'Odd' : 'Even'},${n + 1},${n}`);
  const file = ['sku,name,category,price,stock', ...rows, ''].join('\n');
  const { status, notes } = await run(
    ['import', '-', '--format', 'csv'], shop.environment, file);
  assert.equal(status, 0, notes);
  return shop;
}

describe('products list', { concurrency: true }, () => {
  test('prints all pages as one table, and filters, sorts and limits them', async (t) => {
    const shop = await openStockedShop(t, 1_205);
    const { status, out, notes } = await shop.run('products', 'list');
    assert.deepEqual([status, notes], [0, '']);
    const lines = out.trimEnd().split('\n');
    assert.equal(lines.length, 1_206);
    assert.match(lines[0] ?? '', /^name +category +sku +price +currency +stock$/);
    assert.match(lines[1_205] ?? '', /^Product 1204 +Even +P-1204 +1205 +EUR +1204$/);
    const [all, filtered, limited, none] = await Promise.all([
      shop.run('products', 'list', '--json'),
      shop.run('products', 'list', '--category', 'Odd', '--stock-min', '1200', '--fields', 'sku'),
      shop.run('products', 'list', '--sort=-price', '--limit', '1', '--json', '--fields', 'sku'),
      shop.run('products', 'list', '--category', 'None'),
    ]);
    const products = all.out.trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(products.map(({ sku }) => sku).slice(-1), ['P-1204']);
    assert.ok(products[0].id.startsWith('prd_'), 'with all members');
    assert.deepEqual(filtered.out, 'sku\nP-1201\nP-1203\n');
    assert.deepEqual(limited.out, '{"sku":"P-1204"}\n');
    assert.deepEqual([none.out, none.notes], ['', 'No product matches.\n']);
  });

  test('lists and exports products with a pair of metadata', async (t) => {
    const shop = await openStockedShop(t, 3);
    await shop.run('products', 'set', 'P-1', 'metadata.erp=a=1');
    const flags = ['--metadata', 'erp=a=1', '--fields', 'sku'];
    assert.equal((await shop.run('products', 'list', ...flags)).out, 'sku\nP-1\n');
    assert.equal((await shop.run('export', '-', ...flags)).out.replaceAll('\r', ''), 'sku\nP-1\n');
    await shop.run('products', 'set', 'P-2', 'metadata.erp=a=1', 'metadata.b=c,d');
    const both = await shop.run('products', 'list', '--metadata', 'b=c,d', ...flags);
    assert.equal(both.out, 'sku\nP-2\n');
    const wrong = await shop.run('products', 'list', '--metadata', 'erp');
    assert.equal(wrong.status, 2);
    assert.match(wrong.notes, /^"erp" is not of the form NAME=VALUE\./);
  });

  test('stops when the reader of its output closes the pipe', async (t) => {
    const shop = await openStockedShop(t, 3_000);
    const child = spawnCommand(['products', 'list', '--json'], shop.environment);
    t.after(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    assert.deepEqual(await once(child, 'close'), [0, null]);
  });

  test('names the flag that the server rejects, in JSON with the problem', async (t) => {
    const shop = await openShop(t);
    const args = ['products', 'list', '--price-min', 'x', '--json'];
    const { status, out, notes } = await shop.run(...args);
    assert.equal(status, 2);
    assert.match(notes, /--price-min: Must be a price such as 12\.50/);
    const { error } = JSON.parse(out);
    assert.deepEqual([error.exit_status, error.problem.status], [2, 400]);
    assert.deepEqual(error.problem.errors[0].parameter, 'price_min');
  });
});

describe('products get and set', { concurrency: true }, () => {
  const MUG = ['name=Blue mug', 'category=Kitchen', 'price=12.50', 'stock=40'];

  test('creates a product only with --create, and then changes single members', async (t) => {
    const shop = await openShop(t);
    const missing = await shop.run('products', 'set', 'MUG-1', 'price=12.5');
    assert.equal(missing.status, 1);
    assert.match(missing.notes, /^There is no product with the SKU MUG-1\. To create it, add --/);
    const incomplete = await shop.run('products', 'set', 'MUG-1', 'price=12.5', '--create');
    assert.match(incomplete.notes, /name: /);
    const made = await shop.run('products', 'set', 'MUG-1', ...MUG, '--create', '--json');
    assert.equal(made.status, 0, made.notes);
    const { id, position, ...product } = JSON.parse(made.out);
    assert.deepEqual([product.sku, product.price, product.stock], ['MUG-1', 12.5, 40]);
    const changed = await shop.run('products', 'set', 'MUG-1', 'stock=0', 'name=a=b', '--create');
    assert.match(changed.out, /^name +a=b$/m);
    const [bySku, byId] = await Promise.all([
      shop.run('products', 'get', 'MUG-1', '--json'), shop.run('products', 'get', '--id', id),
    ]);
    const now = JSON.parse(bySku.out);
    assert.deepEqual([now.stock, now.price, now.position], [0, 12.5, position + 1]);
    assert.match(byId.out, new RegExp(`^id +${id}$`, 'm'));
    assert.equal(await shop.readPosition(), position + 1);
  });

  test('prints products as they were at a position', async (t) => {
    const shop = await openStockedShop(t, 2);
    await shop.run('products', 'set', 'P-0', 'sku=X', 'stock=9');
    const [list, product, gone] = await Promise.all([
      shop.run('products', 'list', '--at', '1', '--fields', 'sku,stock', '--json'),
      shop.run('products', 'get', 'P-0', '--at', '2', '--json'),
      shop.run('products', 'get', 'P-0', '--at', '3'),
    ]);
    assert.equal(list.out, '{"sku":"P-0","stock":0}\n');
    assert.equal(JSON.parse(product.out).stock, 0);
    assert.equal(gone.status, 1);
    assert.match(gone.notes, /You had no product with this SKU at 3\./);
  });

  test('sets optional members and metadata pairs, and removes blank ones', async (t) => {
    const shop = await openStockedShop(t, 1);
    const set = async (...members: string[]) =>
      JSON.parse((await shop.run('products', 'set', 'P-0', ...members, '--json')).out);
    const first = await set('metadata.erp=1', 'metadata.shop=2', 'archived=true', 'low_stock=3');
    assert.deepEqual([first.metadata, first.archived, first.low_stock],
      [{ erp: '1', shop: '2' }, true, 3]);
    const { out } = await shop.run('products', 'get', 'P-0');
    assert.match(out, /^metadata\.erp {3}1\nmetadata\.shop {2}2$/m);
    const table = await shop.run('products', 'list', '--archived', 'any', '--fields', 'metadata');
    assert.equal(table.out, 'metadata\nerp=1, shop=2\n');
    const { metadata } = await set('metadata.__proto__=x');
    assert.deepEqual(Object.entries(metadata).length, 3);
    const second = await set(
      'metadata.__proto__=', 'metadata.erp=', 'archived=false', 'low_stock=');
    assert.deepEqual([second.metadata, second.archived, second.low_stock],
      [{ shop: '2' }, undefined, undefined]);
  });

  test('changes only the version that --if-match names', async (t) => {
    const shop = await openStockedShop(t, 1);
    const set = (position: string) =>
      shop.run('products', 'set', 'P-0', 'price=9', '--if-match', position);
    const stale = await set('7');
    assert.equal(stale.status, 1);
    assert.match(stale.notes, /^The precondition failed\./);
    assert.equal((await set('1')).status, 0);
  });

  const wrong: readonly [args: readonly string[], says: RegExp][] = [
    [['set', 'P-0'], /^Give SKU MEMBER=VALUE\. Run/],
    [['set', 'P-0', 'price'], /^"price" does not set a member .* Did you mean price=VALUE\?/],
    [['set', 'P-0', 'prise=1'], /Did you mean price=VALUE\?/],
    [['set', 'P-0', 'weight=1'], /Members are: name, .*, stock, barcode, .*, archived\./],
    [['set', 'P-0', 'archived=yes'], /^archived=yes: Must be true or false\./],
    [['set', 'P-0', '__proto__=1'], /does not set a member/],
    [['set', 'P-0', 'price=1', 'price=2'], /^price is given twice\./],
    [['set', 'P-0', 'metadata.a=1', 'metadata.a=2'], /^metadata\.a is given twice\./],
    [['set', 'P-0', 'price=1,50'], /^price=1,50: Must be a number such as 12\.50/],
    [['set', 'P-0', 'stock=0x10'], /^stock=0x10: Must be a number/],
    [['set', 'P-0', 'price=0.12345678901234567890123'], /^price=0\.1234\d+: /],
    [['set', 'P-0', 'price=1', '--if-match', 'x'], /^--if-match takes a position, such as 12, not/],
    [['get', ''], /^SKU is empty\./],
    [['get', 'P-0', 'P-1'], /^Give SKU, in quotes if it contains spaces\./],
    [['set', '', 'price=1'], /^SKU is empty\./],
    [['delete', 'P-0', '', '--yes'], /^SKU is empty\./],
    [['get'], /^Name the product: either SKU or --id ID\./],
    [['get', 'P-0', '--id', 'prd_1'], /^Name the product: either SKU or --id ID\./],
  ];

  test('rejects invalid arguments without a request', async () => {
    const nowhere = { SELLER_API_URL: 'http://127.0.0.1:2', SELLER_API_KEY: generateApiKey() };
    await Promise.all(wrong.map(async ([args, says]) => {
      const { status, notes } = await run(['products', ...args], nowhere);
      assert.match(notes, says);
      assert.equal(status, 2, args.join(' '));
    }));
  });
});

describe('products lookup', { concurrency: true }, () => {
  test('finds products by SKU, id, barcode and metadata, in the order of queries', async (t) => {
    const shop = await openStockedShop(t, 4);
    await shop.run('products', 'set', 'P-1', 'barcode=4006381333931', 'metadata.erp=a=1');
    await shop.run('products', 'set', 'P-2', 'barcode=4006381333931');
    const { id } = JSON.parse((await shop.run('products', 'get', 'P-3', '--json')).out);
    const queries = [`id=${id}`, 'barcode=04006381333931', 'sku=X', 'metadata.erp=a=1'];
    const table = await shop.run('products', 'lookup', ...queries, '--fields', 'sku,stock');
    assert.deepEqual([table.status, table.notes], [0, 'No product has sku=X.\n']);
    assert.deepEqual(table.out.replaceAll(/ {2,}/g, ' ').split('\n'), [
      'query sku stock', `id=${id} P-3 3`, 'barcode=04006381333931 P-1 1',
      'barcode=04006381333931 P-2 2', 'metadata.erp=a=1 P-1 1', '',
    ]);
    const json = await shop.run('products', 'lookup', ...queries, '--json', '--fields', 'sku');
    const lines = json.out.trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(lines.map(({ query }) => query), queries);
    assert.deepEqual(lines.map(({ products }) => products.map((found: any) => found.sku)),
      [['P-3'], ['P-1', 'P-2'], [], ['P-1']]);
    const whole = await shop.run('products', 'lookup', 'sku=P-0', '--json');
    assert.equal(JSON.parse(whole.out).products[0].name, 'Product 0');
  });

  test('rejects a query by an unknown member, and an invalid value', async (t) => {
    const shop = await openStockedShop(t, 1);
    for (const [query, expected, says] of [
      ['P-0', 2, /^"P-0" is not of the form NAME=VALUE\./],
      ['name=Mug', 2, /^Products are looked up by sku, id, barcode or metadata\.NAME, not by "n/],
      ['barcode=12', 1, /digits/],
    ] as const) {
      const { status, out, notes } = await shop.run('products', 'lookup', query);
      assert.match(notes, says);
      assert.deepEqual([status, out], [expected, '']);
    }
  });
});

describe('products delete', { concurrency: true }, () => {
  test('deletes products by their SKUs or ids, and prints each', async (t) => {
    const shop = await openStockedShop(t, 6);
    await shop.run('products', 'set', 'P-0', 'sku=-杯');
    const ids = JSON.parse((await shop.run('products', 'get', 'P-5', '--json')).out).id;
    const bySku = await shop.run('products', 'delete', '--yes', '--', '-杯', 'P-1', 'P-1');
    assert.deepEqual([bySku.status, bySku.out], [0,
      'Deleted -杯 (Product 0).\nDeleted P-1 (Product 1).\n']);
    const byId = await shop.run('products', 'delete', '--id', ids, '--yes', '--json');
    assert.deepEqual(JSON.parse(byId.out), { id: ids, sku: 'P-5', name: 'Product 5' });
    const { out } = await shop.run('products', 'list', '--fields', 'sku');
    assert.equal(out, 'sku\nP-2\nP-3\nP-4\n');
  });

  test('deletes nothing if one product is missing, has changed, or is not confirmed', async (t) => {
    const shop = await openStockedShop(t, 3);
    const cases: readonly [args: readonly string[], status: number, says: RegExp][] = [
      [['P-1', 'X', 'Y', '--yes'], 1, /^There is no product X\. Nothing was deleted\.\n$/],
      [['P-1', '--if-match', '9', '--yes'], 1, /^The precondition failed\./],
      [['P-1', 'P-2', '--if-match', '2', '--yes'], 2, /^--if-match is for one product\./],
      [['P-1'], 2, /^There is no terminal to ask for confirmation: add --yes\./],
      [['--yes'], 2, /^Name the products: either SKU\.\.\. or --id ID,\.\.\./],
      [['P-1', '--id', 'prd_1', '--yes'], 2, /^Name the products: either/],
    ];
    for (const [args, status, says] of cases) {
      const finished = await shop.run('products', 'delete', ...args);
      assert.deepEqual([finished.status, finished.out], [status, '']);
      assert.match(finished.notes, says);
    }
    assert.equal(await shop.readPosition(), 3);
    const same = await shop.run('products', 'delete', 'P-1', '--if-match', '2', '--yes');
    assert.equal(same.status, 0);
  });

  test('deletes none of more products than a lookup has if the last one is missing', async (t) => {
    const shop = await openStockedShop(t, 1_001);
    const skus = Array.from({ length: 1_001 }, (_, n) => `P-${n}`);
    const { status, notes } = await shop.run('products', 'delete', ...skus, 'X', '--yes');
    assert.deepEqual([status, notes], [1, 'There is no product X. Nothing was deleted.\n']);
    assert.equal(await shop.readPosition(), 1_001);
  });

  test('asks on a terminal, and deletes only after a yes', async (t) => {
    const shop = await openStockedShop(t, 8);
    const skus = Array.from({ length: 7 }, (_, n) => `P-${n}`);
    for (const [answer, status] of [['\n', 1], ['n\n', 1], ['', 1], ['yes\n', 0]] as const) {
      const io = Object.assign(new EventEmitter(), {
        stdin: Object.assign(Readable.from([answer]), { isTTY: true }),
        stdout: new PassThrough(), stderr: Object.assign(new PassThrough(), { isTTY: true }),
        env: { ...process.env, ...shop.environment },
      });
      assert.equal(await runCommand(['products', 'delete', ...skus], io), status);
      const notes = await text(io.stderr.end());
      assert.match(notes, /^Delete 7 products: P-0 \(Product 0\), .*, 2 more\? \[y\/N\] /);
      if (status === 1) assert.match(notes, /Cancelled\. Nothing was deleted\.\n$/);
    }
    assert.equal((await shop.run('products', 'list', '--fields', 'sku')).out, 'sku\nP-7\n');
  });
});

test('lists the stock movements of a product, newest first', async (t) => {
  const shop = await openStockedShop(t, 2);
  await shop.run('stock', 'set', 'P-1', '+4', '--reason', 'found', '--source', 'till');
  await shop.run('stock', 'set', 'P-1', '-2');
  const { status, out } = await shop.run('stock', 'movements', 'P-1');
  assert.equal(status, 0);
  assert.deepEqual(out.trimEnd().split('\n').map((line) => line.split(/ +/).toSpliced(1, 1)
    .slice(0, 6).join(' ')), ['position sku before after reason source', '4 P-1 5 3 - -',
    '3 P-1 1 5 found till', '2 P-1 0 1 - -']);
  const [{ movements: [newest, ...others] }, { movements: bySource }] = await Promise.all([
    shop.run('stock', 'movements', 'P-1', '--limit', '1', '--json'),
    shop.run('stock', 'movements', '--source', 'till', '--json'),
  ]).then((finished) => finished.map((one) => JSON.parse(one.out)));
  assert.deepEqual([newest.position, newest.delta, others.length], [4, -2, 0]);
  assert.equal(bySource.length, 1);
  const byId = await shop.run('stock', 'movements', '--id', newest.product_id, '--json',
    '--import', newest.import, '--since', newest.at);
  assert.deepEqual(JSON.parse(byId.out).movements, [newest]);
  const none = await shop.run('stock', 'movements', 'X', '--until', '2020-01-01T00:00:00Z');
  assert.deepEqual([none.status, none.out, none.notes], [0, '', 'No stock movement matches.\n']);
  const both = await shop.run('stock', 'movements', 'P-1', '--id', newest.product_id);
  assert.deepEqual([both.status, both.out], [2, '']);
  const wrong = await shop.run('stock', 'movements', '--since', 'today');
  assert.deepEqual([wrong.status, wrong.out], [2, '']);
  assert.match(wrong.notes, /^--since: Must be an RFC 3339 time/);
});

describe('stock set', () => {
  const cases: readonly [args: readonly string[], status: number, says: RegExp][] = [
    [['P-7', '40'], 0, /^P-7: 7 -> 40\n$/],
    [['P-7', '40'], 0, /^P-7: 40 already\n$/],
    [['P-7', '+5', '--reason', 'found', '--source', 'till 2'], 0, /^P-7: 40 -> 45\n$/],
    [['P-7', '-2', '--expect', '45'], 0, /^P-7: 45 -> 43\n$/],
    [['P-7', '1', '--expect', '45'], 1, /^The stock of P-7 is 43, not 45\. Nothing was /m],
    [['P-7', '-44'], 1, /^The stock of P-7 is only 43\. Nothing was changed\.$/m],
    [['P-7', '+1000000000'], 1, /^adjust: Would raise the stock above 1,000,000,000\. Nothing/m],
    [['NO', '1'], 1, /^There is no product with the SKU NO\. Nothing was changed\.$/m],
    [['P-7', 'x'], 2, /^"x" is not a stock, such as 40, or a difference, such as \+5 or -2\./m],
    [['P-7', '1000000001'], 2, /The largest is 1,000,000,000\./],
    [['P-7', '--', '-1'], 0, /^P-7: 43 -> 42\n$/],
  ];

  test('sets, adjusts and checks the stock', async (t) => {
    const shop = await openStockedShop(t, 10);
    for (const [args, status, says] of cases) {
      const finished = await shop.run('stock', 'set', ...args);
      assert.match(finished.out + finished.notes, says);
      assert.equal(finished.status, status, args.join(' '));
    }
    const { out } = await shop.run('stock', 'set', 'P-8', '+1', '--json');
    const { sku, status, previous, stock } = JSON.parse(out);
    assert.deepEqual([sku, status, previous, stock], ['P-8', 'ok', 8, 9]);
  });
});
