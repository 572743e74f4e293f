/** `imports list` and `imports show`, against a running server. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ImportRecord, SellerClient } from '../../../src/client/index.ts';
import { followImport } from '../../../src/cli/remote/imports.ts';
import { makeFolder } from '../../support/folder.ts';
import { openShop } from '../shop.ts';

test('lists imports newest first, and prints one', async (t) => {
  const shop = await openShop(t);
  const none = await shop.run('imports', 'list');
  assert.deepEqual([none.status, none.out], [0, '']);
  assert.match(none.notes, /There is no import yet\./);
  const file = join(makeFolder(t), 'shop.csv');
  writeFileSync(file, 'name,category,sku,price,stock\nBlue mug,Kitchen,MUG-1,12.5,40\n');
  assert.equal((await shop.run('import', file)).status, 0);
  assert.equal((await shop.run('stock', 'set', 'MUG-1', '39')).status, 0);

  const list = await shop.run('imports', 'list');
  const [head, sync, imported, ...rest] = list.out.trimEnd().split('\n');
  assert.match(head ?? '', /^id +kind +started_at +file +result +finished$/);
  assert.match(sync ?? '', /^imp_\w+ +stock +\S+Z +- +1 applied, 0 unchanged, 0 rejected +yes$/);
  assert.match(imported ?? '', /^imp_\w+ +products +\S+Z +\S+ +1 created, .*, 0 skipped +yes$/);
  assert.deepEqual(rest, []);
  const { imports } = JSON.parse((await shop.run('imports', 'list', '--json')).out);
  assert.deepEqual(imports.map((one: { kind: string }) => one.kind), ['stock', 'products']);
  const one = await shop.run('imports', 'list', '--kind', 'products', '--limit', '1', '--json');
  assert.deepEqual(JSON.parse(one.out).imports, [imports[1]]);
  const wrong = await shop.run('imports', 'list', '--kind', 'all');
  assert.equal(wrong.status, 2);
  assert.match(wrong.notes, /^--kind takes products, .*, revert or bulk, not "all"\./);

  const shown = await shop.run('imports', 'show', imports[1].id);
  assert.match(shown.out, new RegExp(`^id +${imports[1].id}$`, 'm'));
  assert.match(shown.out, /^created +1$/m);
  assert.match(shown.out, /^first_position +1$/m);
  const document = await shop.run('imports', 'show', imports[1].id, '--json');
  assert.deepEqual(JSON.parse(document.out), imports[1]);
  const unknown = await shop.run('imports', 'show', 'imp_1');
  assert.equal(unknown.status, 1);
  assert.match(unknown.notes, /You have no import with this id\./);
});

/** What is said after the record of an import was seen with these numbers of created rows. */
async function follow(
  reads: readonly (number | 'finished' | 'none' | 'down')[], limitMs = 60_000,
): Promise<string> {
  const left = [...reads];
  let later = 9;
  const imports = {
    async* list({ limit }: { readonly limit: number }) {
      if (limit === 1) return;
      const read = left.shift() ?? (later += 1);
      if (read === 'down') throw new Error('down');
      if (read === 'none') return;
      const [created, finished_at] = read === 'finished' ? [9, 'then'] : [read, null];
      // The cast: the other members are not read.
      yield { id: 'imp_1', finished_at, counts: { created } } as unknown as ImportRecord;
    },
  };
  // The cast: nothing else of the client is used.
  const describe = followImport({ imports } as unknown as SellerClient, () => true, {
    everyMs: 1, limitMs,
  });
  const text = await describe();
  assert.deepEqual(left, [], 'reads until then');
  return text;
}

test('waits until the counts of an interrupted import no longer change', async () => {
  assert.equal(await follow([5, 7, 9, 9]), 'So far: 9 created (imp_1). ');
  assert.equal(await follow([5, 'finished']), 'So far: 9 created (imp_1). ');
  assert.equal(await follow(['none', 5, 5]), 'So far: 5 created (imp_1). ');
});

test('says that the server may still write, and where that is seen', async () => {
  const says = 'The server may still write what it has received: "imports';
  const counts = 'So far: 5 created (imp_1). ';
  assert.equal(await follow([5, 'down']), `${counts}${says} show imp_1" shows it. `);
  assert.equal(await follow(['none', 'none']), `${says} list" shows it. `);
  assert.equal(await follow(['down']), `${says} list" shows it. `);
  assert.match(await follow([1, 2], 100),
    new RegExp(`^So far: \\d+ created \\(imp_1\\)\\. ${says} show imp_1" shows it\\. $`));
});
