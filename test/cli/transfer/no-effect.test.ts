/** Files without any effect: what `import` and `stock sync` say of them, and the exit status. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openShop, type Shop } from '../shop.ts';

const HEADER = 'name,category,sku,price,stock\n';
const MAGENTO = 'sku,store_view_code,product_type,categories,name,price,qty\n'
  + 'A,german,simple,C,Tasse,1,1\nB,german,simple,C,Kanne,1,1\n';

function write(shop: Shop, name: string, content: string): string {
  const path = join(shop.folder, name);
  writeFileSync(path, content);
  return path;
}

describe('a file without effect', { concurrency: 2 }, () => {
  test('ends an import with status 1, and says why', async (t) => {
    const shop = await openShop(t);
    for (const [content, why] of [
      [HEADER, /^Nothing to import: the file has no rows\.$/m],
      [MAGENTO, /^Nothing to import: every row was skipped\.$/m],
    ] as const) {
      const path = write(shop, 'shop.csv', content);
      for (const flags of [['--dry-run'], []]) {
        const { status, notes } = await shop.run('import', path, ...flags);
        assert.equal(status, 1);
        assert.match(notes, why);
        assert.equal(notes.match(/Nothing to import/g)?.length, 1);
      }
    }
    const path = write(shop, 'magento.csv', MAGENTO);
    const { status, notes, out } = await shop.run('import', path, '--json');
    assert.equal(status, 1);
    assert.match(notes, /^Skipped rows: 2 for a store view\. To import the rows of a store view /m);
    const { summary } = JSON.parse(out);
    assert.deepEqual([summary.skipped, summary.skip_reasons], [2, { translation: 2 }]);
    assert.equal(summary.notes[0], 'Nothing to import: every row was skipped.');
  });

  test('is a success if nothing was left to do', async (t) => {
    const shop = await openShop(t);
    const path = write(shop, 'shop.csv', `${HEADER}Mug,K,M-1,1,1\n,,,,\n`);
    for (const outcome of [/1 created/, /1 unchanged/]) {
      const { status, out, notes } = await shop.run('import', path);
      assert.equal(status, 0, notes);
      assert.match(out, outcome);
      assert.match(notes, /^Skipped rows: 1 without any text\.$/m);
    }
    const stock = write(shop, 'stock.csv', 'sku,stock\nM-1,1\n');
    assert.equal((await shop.run('stock', 'sync', stock)).status, 0);
  });

  test('ends a stock sync with status 1, and says why', async (t) => {
    const shop = await openShop(t);
    const path = write(shop, 'stock.csv', 'sku,stock\n,\n');
    for (const flags of [['--dry-run'], ['--complete', '--force']]) {
      const { status, notes } = await shop.run('stock', 'sync', path, ...flags);
      assert.equal(status, 1);
      assert.match(notes, /^Nothing to apply: the file has no rows\.$/m);
    }
  });

  test('says that a stocktake has set products to 0', async (t) => {
    const shop = await openShop(t);
    await shop.run('import', write(shop, 'shop.csv', `${HEADER}Mug,K,M-1,1,1\n`));
    const path = write(shop, 'count.csv', 'sku,stock\n');
    const { status, out } = await shop.run('stock', 'sync', path, '--complete', '--force');
    assert.equal(status, 0);
    assert.match(out, /0 applied, 0 unchanged, 1 set to 0/);
  });
});

describe('rows whose id and SKU contradict each other', () => {
  test('are rejected by both commands, with the remedy', async (t) => {
    const shop = await openShop(t);
    await shop.run('import', write(shop, 'shop.csv', `${HEADER}Mug,K,0123,1,1\nCup,K,123,1,1\n`));
    const { out } = await shop.run('products', 'get', '0123', '--json');
    const { id } = JSON.parse(out);
    const path = write(shop, 'own.csv', `id,sku,name,stock\n${id},123,Mug,9\nprd_x,123,Cup,2\n`);
    const imported = await shop.run('import', path, '--mode', 'update', '--duplicates', 'last');
    assert.equal(imported.status, 1);
    assert.match(imported.notes, /Line 2, SKU 123: id: Is the id of your product "0123"\./);
    assert.match(imported.notes, /To change a SKU, run "products set OLD sku=NEW"\./);
    assert.match(imported.notes, /^1 row has an id that none of your products has\./m);
    const synced = await shop.run('stock', 'sync', path, '--duplicates', 'last');
    assert.equal(synced.status, 1);
    assert.match(synced.notes, /Line 2, SKU 123: .*Is the id of your product "0123"\./);
    assert.match(synced.notes, /^1 row has an id that none of your products has\./m);
    const unknown = write(shop, 'count.csv', 'sku,stock\n4.00638E+12,1\nMar-04,1\n');
    const { notes } = await shop.run('stock', 'sync', unknown);
    assert.match(notes, /4\.00638E\+12\. A spreadsheet has shortened this number\. Format the /);
    assert.match(notes, /Mar-04\. A spreadsheet may have changed it to a date\. Format the /);
    const renamed = await shop.run('products', 'set', '0123', 'sku=0124');
    assert.equal(renamed.status, 0, renamed.notes);
  });
});
