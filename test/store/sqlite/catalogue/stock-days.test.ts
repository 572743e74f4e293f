/** How the database counts stock movements per day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SellerId } from '../../../../src/domain/id.ts';
import { prepareCatalogueFile } from '../../../../src/store/sqlite/engine/database-file.ts';
import { openWriter } from '../../../../src/store/sqlite/engine/connection.ts';
import { stockDayQueries } from '../../../../src/store/sql/history/stock-queries.ts';
import { prepareNoteStockDay } from '../../../../src/store/sqlite/catalogue/change-rows.ts';
import { sqlOf } from '../../../../src/store/sqlite/sql.ts';
import { makeFolder } from '../../../support/folder.ts';
import { DAY_MS } from '../../contract/fixture.ts';

const SELLER = 1 as SellerId;
const MOST = Number.MAX_SAFE_INTEGER;

test('saturates at the largest safe integer on a busy day', async (t) => {
  const db = openWriter(prepareCatalogueFile(makeFolder(t)).file);
  t.after(() => db.close());
  db.exec(`INSERT INTO seller (id, name, currency, currency_decimals, created_at)
    VALUES (${SELLER}, 'A shop', 'EUR', 2, 0)`);
  const note = prepareNoteStockDay(db);
  const list = () => stockDayQueries(sqlOf(db)).listStockDays(SELLER, { since: 0, limit: 9 });
  note(SELLER, DAY_MS, { unitsIn: MOST - 1, unitsOut: 2 ** 60 });
  assert.deepEqual(await list(), [{ day: 1, unitsIn: MOST - 1, unitsOut: MOST }]);
  note(SELLER, DAY_MS, { unitsIn: 1, unitsOut: 1 });
  assert.deepEqual(await list(), [{ day: 1, unitsIn: MOST, unitsOut: MOST }]);
  note(SELLER, DAY_MS, { unitsIn: MOST, unitsOut: MOST });
  assert.deepEqual(await list(), [{ day: 1, unitsIn: MOST, unitsOut: MOST }]);
});
