/** `revert`, against a running server. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../support/folder.ts';
import { openShop } from '../shop.ts';

test('reverts an import, and reports what it does not revert', async (t) => {
  const shop = await openShop(t);
  const file = join(makeFolder(t), 'shop.csv');
  const importRows = async (...rows: readonly string[]): Promise<string> => {
    writeFileSync(file, ['name,category,sku,price,stock', ...rows, ''].join('\n'));
    assert.equal((await shop.run('import', file)).status, 0);
    const { imports } = JSON.parse((await shop.run('imports', 'list', '--json')).out);
    return imports[0].id;
  };
  await importRows('Mug,Kitchen,MUG-1,12.5,40', 'Cup,Kitchen,CUP-1,8,10');
  const wrong = await importRows('Mug,Kitchen,MUG-1,99,0', 'Cup,Kitchen,CUP-1,99,50');
  assert.equal((await shop.run('stock', 'set', 'CUP-1', '-3')).status, 0);

  const dry = await shop.run('revert', wrong, '--dry-run');
  assert.deepEqual([dry.status, dry.out.trimEnd().split('\n')], [1, [
    'Left alone: CUP-1 (only its stock changed since)',
    'Dry run, nothing was changed: 0 unchanged, 1 restored, 0 deleted, 0 created again, '
      + '1 left alone.',
  ]]);
  assert.match(dry.notes, /1 had only stock movements since.*\n1 product would be left alone\.$/m);

  const done = await shop.run('revert', wrong, '--json');
  assert.equal(done.status, 1);
  const [mug, cup, { summary }] = done.out.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual([mug.status, mug.changes.price], ['restored', { from: 99, to: 12.5 }]);
  assert.deepEqual([cup.sku, cup.conflict], ['CUP-1', 'moved']);
  assert.deepEqual([summary.restored, summary.conflicts], [1, 1]);

  const forced = await shop.run('revert', wrong, '--force');
  assert.deepEqual([forced.status, forced.notes], [0, '']);
  assert.match(forced.out, /^Reverted: 1 unchanged, 1 restored, .*0 left alone \(imp_\w+\)\.$/m);
  const { stock } = JSON.parse((await shop.run('products', 'get', 'CUP-1', '--json')).out);
  assert.equal(stock, 7);

  const range = await shop.run('revert', '--after', '0', '--up-to', '2', '--force');
  assert.match(range.out, /2 deleted/);
});

test('reports missing and invalid arguments', async (t) => {
  const shop = await openShop(t);
  const cases: readonly [args: readonly string[], status: number, notes: RegExp][] = [
    [[], 2, /Give an IMPORT_ID \("imports list" shows them\), or --after and --up-to\./],
    [['--after', '1'], 2, /Give an IMPORT_ID/],
    [['imp_1', '--source', 'till'], 2, /--source does not combine with an IMPORT_ID\./],
    [['--after', 'x', '--up-to', '1'], 2, /--after takes a position, such as 12, not/],
    [['imp_1'], 1, /You have no import with this id\./],
    [['--after', '0', '--up-to', '7'], 1, /up_to: Must be at most 0/],
  ];
  await Promise.all(cases.map(async ([args, status, notes]) => {
    const done = await shop.run('revert', ...args);
    assert.equal(done.status, status, done.notes);
    assert.match(done.notes, notes);
  }));
});
