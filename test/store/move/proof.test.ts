/** The proof of a move, on sides without a database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proveTables, type Side } from '../../../src/store/move/move.ts';
import type { Column, Table } from '../../../src/store/move/tables.ts';

const ID: Column = { name: 'id', type: 'INTEGER', expression: 'id' };
const TABLE: Table = { name: 'item', columns: [ID], additions: [], key: [ID], rows: 'item' };

/** A table of numbers, read in batches; `open` counts the reads that have not ended. */
function makeSide(batches: readonly (readonly string[])[], open = { reads: 0, batches: 0 }): Side {
  return {
    async* read() {
      open.reads += 1;
      try {
        for (const batch of batches) {
          open.batches += 1;
          yield batch;
        }
      } finally {
        open.reads -= 1;
      }
    },
    append: () => assert.fail('a proof writes nothing'),
    findLastKey: async () => undefined,
    count: async () => batches.flat().length,
  };
}

function prove(source: Side, target: Side) {
  return proveTables({ source, target, tables: [TABLE], totalRows: 4, onProgress() {} });
}

test('gives equal rows the same digest, however they are read', async () => {
  const proven = await prove(makeSide([['1', '2'], ['3']]), makeSide([['1'], ['2', '3']]));
  const again = await prove(makeSide([['1', '2', '3']]), makeSide([['1', '2', '3']]));
  assert.deepEqual(proven, again);
  const [other] = await prove(makeSide([['1', '23']]), makeSide([['1', '23']]));
  assert.deepEqual([proven[0]?.rows, other?.rows], [3, 2]);
  assert.notEqual(proven[0]?.digest, other?.digest);
});

test('names the first row that differs, and reads no further', async () => {
  const [one, other] = [{ reads: 0, batches: 0 }, { reads: 0, batches: 0 }];
  const [source, target] = [
    makeSide([['1', '2'], ['4'], ['5'], ['6']], one), makeSide([['1', '3'], ['4'], ['5']], other),
  ];
  await assert.rejects(prove(source, target), /^AppError: .* first in the row id=2\. /);
  assert.deepEqual([one, other], [{ reads: 0, batches: 5 }, { reads: 0, batches: 4 }]);
});

test('names a row that only one side has', async () => {
  for (const [source, target] of [[['1', '2'], ['1']], [['1'], ['1', '2']]] as const) {
    await assert.rejects(prove(makeSide([source]), makeSide([target])), /first in the row id=2\. /);
  }
});
