/** `import` of files and pipes: what it prints and what it rejects. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { run, spawnCommand } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { openShop, SAMPLE } from '../shop.ts';

const PRODUCTS = 100;
const KEY = generateApiKey();
const HEADER = 'name,category,sku,price,stock';

describe('import', { concurrency: 2 }, () => {
  test('imports the sample, and changes nothing the second time', async (t) => {
    const shop = await openShop(t);
    const first = await shop.run('import', SAMPLE);
    assert.equal(first.status, 0, first.notes);
    assert.match(first.out, /: 100 created, 0 updated, 0 unchanged, 0 rejected/);
    assert.match(first.notes, /^100 %, 100 rows, 0 rejected, [\d,]+ rows\/s\n$/);
    const second = await shop.run('import', SAMPLE, '--json');
    const { summary: { import: id, ...summary }, failures_file } = JSON.parse(second.out);
    assert.match(id, /^imp_/);
    assert.deepEqual(summary, {
      created: 0, updated: 0, unchanged: PRODUCTS, failed: 0, skipped: 0, position: PRODUCTS,
      duplicates: 0, duplicate_rows: [], ignored_columns: [],
    });
    assert.equal(failures_file, null);
  });

  test('changes nothing in a dry run, and says what it would do', async (t) => {
    const shop = await openShop(t);
    const { status, out } = await shop.run('import', SAMPLE, '--dry-run');
    assert.equal(status, 0);
    assert.match(out, /^Dry run, nothing was changed: 100 created/);
    assert.equal(await shop.readPosition(), 0);
  });

  test('reads standard input if FILE is -', async (t) => {
    const shop = await openShop(t);
    const bare = await run(['import', '-'], shop.environment, '');
    assert.equal(bare.status, 2);
    assert.match(bare.notes, /^Give the format of standard input: --format csv/);
    const args = ['import', '-', '--format', 'csv'];
    const { status, out } = await run(args, shop.environment, readFileSync(SAMPLE));
    assert.equal(status, 0);
    assert.ok(out.startsWith(`standard input: ${PRODUCTS} created`), out);
  });

  test('sends a compressed file unchanged, and counts its rows', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'sample.CSV.gz');
    writeFileSync(path, gzipSync(readFileSync(SAMPLE)));
    const { status, out, notes } = await shop.run('import', path);
    assert.equal(status, 0, notes);
    assert.match(out, /: 100 created/);
    assert.match(notes, /^100 %, 100 rows/);
  });

  test('reports a .gz file that is not compressed', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'sample.csv.gz');
    writeFileSync(path, readFileSync(SAMPLE));
    const { status, notes } = await shop.run('import', path);
    assert.equal(status, 1);
    assert.match(notes, /^[^\n]*sample\.csv\.gz cannot be read: [^\n]+\n$/);
  });

  test('determines the format by the extension unless --format is given', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    writeFileSync(path, '{"name":"A","category":"B","sku":"C","price":1,"stock":1}\n');
    assert.equal((await shop.run('import', path)).status, 1);
    const { status, out } = await shop.run('import', path, '--format', 'ndjson');
    assert.equal(status, 0);
    assert.match(out, /: 1 created/);
  });

  test('imports columns of other names with --map, and names the ignored ones', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.tsv');
    const rows = ['Artikel,category,sku,price,stock,Farbe', 'Tasse,K,T-1,1.5,2,blau'];
    writeFileSync(path, rows.join('\n').replaceAll(',', '\t'));
    const refused = await shop.run('import', path);
    assert.equal(refused.status, 1);
    assert.match(refused.notes, /Artikel/);
    const { status, notes } = await shop.run('import', path, '--map', 'name:Artikel');
    assert.equal(status, 0, notes);
    assert.match(notes, /Ignored columns: Farbe\./);
  });

  test('rejects a file with a duplicate column, and names it', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'twice.csv');
    writeFileSync(path, 'sku,name,category,price,stock,price\nA,A,B,1,1,2\n');
    const { status, notes } = await shop.run('import', path);
    assert.equal(status, 1);
    assert.match(notes, /column "price" twice \(columns 4 and 6\)/);
  });

  test('rejects existing products with --mode create, and does not change them', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    writeFileSync(path, `${HEADER}\nA,B,C,1,1\n`);
    assert.equal((await shop.run('import', path, '--mode', 'create')).status, 0);
    writeFileSync(path, `${HEADER}\nChanged,B,C,1,1\n`);
    const { status, notes } = await shop.run('import', path, '--mode', 'create');
    assert.equal(status, 1);
    assert.match(notes, /Line 2, SKU C: You already have a product with this SKU\./);
    assert.equal(await shop.readPosition(), 1);
  });

  test('counts and names the rows that override an earlier row', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    const rows = [1, 2, 3, 4, 5, 6, 7].map((price) => `Mug,Kitchen,M-1,${price},1`);
    writeFileSync(path, [HEADER, 'Pot,Kitchen,P-1,1,1', ...rows].join('\n'));
    const rejected = await shop.run('import', path, '--dry-run');
    assert.match(rejected.notes, /set --duplicates last to use the last row, and send the whole/);
    assert.match(rejected.notes, /import all of .*products\.csv again, corrected or with --dupl/);
    for (const flags of [['--dry-run'], []]) {
      const { status, notes } = await shop.run('import', path, '--duplicates', 'last', ...flags);
      assert.equal(status, 0);
      assert.match(notes, /\n6 duplicate rows: the last row with a SKU wins\./);
      assert.match(notes, /\n  Line 4 overrides line 3, SKU M-1\.\n  Line 5 overrides line 4/);
      assert.doesNotMatch(notes, /Line 9/);
    }
  });

  test('changes only existing products with --mode update, and says how to create', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    writeFileSync(path, `${HEADER}\nA,B,C,1,1\n`);
    assert.equal((await shop.run('import', path)).status, 0);
    writeFileSync(path, 'sku,stock\nC,7\nD,7\n');
    const { status, notes } = await shop.run('import', path, '--mode', 'update');
    assert.equal(status, 1);
    assert.match(notes, /Line 3, SKU D: sku: You have no product with this SKU\./);
    assert.match(notes, /run the command again with --mode upsert\./);
    assert.equal(await shop.readPosition(), 2);
  });

  test('keeps values that a partial file leaves out, and suggests a flag', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    writeFileSync(path, `${HEADER}\nMug,Kitchen,M-1,5,\nPot,Kitchen,P-1,5,\n`);
    const failed = await shop.run('import', path);
    assert.equal(failed.status, 1);
    const file = join(shop.folder, 'products.failed.csv');
    assert.ok(failed.notes.endsWith('2 rows rejected. 2 rejected rows are new products without a '
      + 'value for stock. Run the command again with --default stock:0. '
      + `The rejected rows are in ${file}.\n`), failed.notes);
    const dry = await shop.run('import', path, '--dry-run', '--json');
    assert.match(JSON.parse(dry.out).summary.advice, /again with --default stock:0\.$/);
    assert.equal((await shop.run('import', path, '--default', 'stock:0')).status, 0);
    writeFileSync(path, 'sku,stock\nM-1,3\nX-1,4\nX-2,5\n');
    const partial = await shop.run('import', path, '--default', 'name:N,category:C');
    assert.match(partial.out, /: 0 created, 1 updated, 0 unchanged, 2 rejected/);
    assert.match(partial.notes, /new products without a value for price\. If the SKUs are right/);
    assert.doesNotMatch(partial.notes, /--default|price:1/);
    const all = (await shop.run('export')).out;
    assert.match(all, /Mug,Kitchen,M-1,5,EUR,3,/);
    assert.match(all, /Pot,Kitchen,P-1,5,EUR,0,/);
  });

  test('names the flag instead of the query parameter', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    writeFileSync(path, 'Artikel,Kosten\nA,1\n');
    const { status, notes } = await shop.run('import', path);
    assert.equal(status, 1);
    assert.match(notes, /Its columns: Artikel, Kosten\. .*\. --map: Name the columns: name:COL/);
    writeFileSync(path, 'Artikelnummer,Bestand\nA,1\n');
    const stock = await shop.run('import', path, '--mode', 'create');
    assert.match(stock.notes, /It looks like a stock file: send it with "stock sync"\. /);
  });

  test('reads the key from a file', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'key');
    writeFileSync(path, `${shop.key}\n`);
    const args = ['import', SAMPLE, '--url', `${shop.url}/`, '--key-file', path];
    assert.equal((await run(args, { SELLER_API_KEY: KEY })).status, 0);
    assert.equal(await shop.readPosition(), PRODUCTS);
  });

  test('reports a rejected flag value in one line', async (t) => {
    const shop = await openShop(t);
    const { status, notes } = await shop.run('import', SAMPLE, '--map', 'x');
    assert.equal(status, 2);
    assert.match(notes, /^[^\n]*--map: [^\n]+ Run with --help for usage\.\n$/);
  });

  test('reports an invalid key in one line', async (t) => {
    const shop = await openShop(t);
    const environment = { ...shop.environment, SELLER_API_KEY: KEY };
    const { status, out, notes } = await run(['import', SAMPLE], environment);
    assert.deepEqual([status, out], [1, '']);
    assert.match(notes, /^The API key is not valid\. [^\n]+\n$/);
    assert.ok(!notes.includes(KEY));
  });
});

for (const host of ['127.0.0.1', 'localhost']) {
  test(`reports in one line that no server is at ${host}, without retrying`, async () => {
    const url = `http://${host}:2`;
    const { status, out, notes } = await run(['import', SAMPLE, '--url', url], {
      SELLER_API_KEY: KEY,
    });
    assert.deepEqual([status, out], [1, '']);
    assert.match(notes, /^No server at http:\S+:2 \(ECONNREFUSED\)\. Start it[^\n]+\n$/);
  });
}

const HELP: Readonly<Record<string, readonly string[]>> = {
  'import FILE|-': [
    '--mode', '--dry-run', '--map', '--default', '--rejected', '--key-file', 'SELLER_API_KEY',
  ],
  'export [FILE|-]': ['--q', '--price-min', '--changed-since', '--sort', '--force', '--key-file'],
  demo: ['--port', 'SELLER_API_PORT'],
};

for (const [usage, flags] of Object.entries(HELP)) {
  test(`explains "${usage}", which has no --data and takes no key`, async () => {
    const { status, out } = await run([usage.split(' ')[0] ?? '', '--help']);
    assert.equal(status, 0);
    assert.ok(out.includes(`\nUsage: seller-api ${usage} [FLAGS]\n`));
    for (const flag of [...flags, '--json']) assert.ok(out.includes(flag), flag);
    assert.doesNotMatch(out, /--data|--key /);
  });
}

test('does not wait for more piped input after the server has rejected it', async (t) => {
  const shop = await openShop(t);
  const environment = { ...shop.environment, SELLER_API_KEY: KEY };
  const child = spawnCommand(['import', '-', '--format', 'csv'], environment);
  t.after(() => { child.kill('SIGKILL'); });
  child.stdin.write(`${HEADER}\n`);
  const [status] = await once(child, 'close');
  assert.equal(status, 1);
});

const invalidArguments: readonly [args: readonly string[], says: RegExp][] = [
  [[], /Give FILE\|-/],
  [['a.csv', 'b.csv'], /Give FILE\|-/],
  [[SAMPLE, '--format', 'xml'], /^--format takes csv or ndjson, not "xml"/],
  [[SAMPLE, '--url', 'shop.example'], /--url takes an address/],
  [[SAMPLE, '--url', 'https://me:secret@shop.example'], /--url takes an address/],
  [[SAMPLE, '--rejected', SAMPLE], /already exists\. It is not overwritten/],
  [['-', '--format', 'csv', '--rejected', 'x.csv'], /cannot be read twice/],
  [[SAMPLE, '--key', 'x'], /--key/],
];

for (const [args, says] of invalidArguments) {
  test(`rejects "import ${args.join(' ').replaceAll(SAMPLE, 'FILE')}"`, async () => {
    const { status, out, notes } = await run(['import', ...args], { SELLER_API_KEY: KEY });
    assert.match(notes, says);
    assert.deepEqual([status, out, notes.includes('secret')], [2, '', false]);
  });
}

test('recognizes a file by its content, unless it is binary', async (t) => {
  const shop = await openShop(t);
  const image = join(shop.folder, 'products.png');
  writeFileSync(image, '\x89PNG\0\0');
  const { status, notes } = await shop.run('import', image);
  assert.equal(status, 2);
  assert.match(notes, /^Give the format of .*products\.png: --format csv or --format ndjson/);
  const path = join(shop.folder, 'products');
  writeFileSync(path, '\ufeff {"name":"A","category":"B","sku":"C","price":1,"stock":1}\n');
  assert.match((await shop.run('import', path)).out, /: 1 created/);
  writeFileSync(path, gzipSync(`${HEADER}\nA,B,D,1,1\n`));
  assert.match((await shop.run('import', path)).out, /: 1 created/);
});

for (const args of [[KEY], ['FILE', '--key', KEY], [`--key=${KEY}`]]) {
  test(`rejects "${args.join(' ').replace(KEY, 'spk_...')}" without repeating it`, async () => {
    for (const command of ['import', 'export', 'imports', 'serve']) {
      const { status, out, notes } = await run([command, ...args]);
      assert.deepEqual([status, out], [2, '']);
      assert.match(notes, /^One of the arguments is an API key\. [^\n]*key revoke[^\n]*\n$/);
      assert.ok(!notes.includes(KEY.slice(0, 10)));
    }
  });
}

test('rejects a malformed key without repeating it', async (t) => {
  const path = join(makeFolder(t), 'key');
  writeFileSync(path, 'hunter2\n');
  const fromFile = await run(['import', SAMPLE, '--key-file', path], {});
  const fromVariable = await run(['import', SAMPLE], { SELLER_API_KEY: 'hunter2' });
  const fromNowhere = await run(['import', SAMPLE], { SELLER_API_KEY: '' });
  assert.match(fromNowhere.notes, /^Give your API key /);
  for (const { status, out, notes } of [fromFile, fromVariable, fromNowhere]) {
    assert.deepEqual([status, out, notes.includes('hunter2')], [2, '', false]);
    assert.match(notes, /SELLER_API_KEY|key has no valid API key/);
  }
});

test('reports a missing file in one line', async () => {
  const { status, notes } = await run(['import', 'nowhere.csv'], { SELLER_API_KEY: KEY });
  assert.deepEqual([status, notes], [1, 'There is no file nowhere.csv.\n']);
  const keyless = await run(['import', SAMPLE, '--key-file', 'nowhere'], {});
  assert.deepEqual([keyless.status, keyless.notes], [1, 'There is no file nowhere.\n']);
});
