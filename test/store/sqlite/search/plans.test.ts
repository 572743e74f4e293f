/** Query plans of search: each filter and each sort uses an index. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import type { ProductId } from '../../../../src/domain/id.ts';
import type {
  ProductFilter, ProductQuery, ProductSort,
} from '../../../../src/domain/catalogue/product-query.ts';
import { prepareCatalogueFile } from '../../../../src/store/sqlite/engine/database-file.ts';
import { openCatalogue } from '../../../../src/store/sqlite/search/catalogue-reader.ts';
import { rowsOf } from '../../../../src/store/sqlite/search/access-paths.ts';
import { ProductFinder } from '../../../../src/store/sqlite/search/product-finder.ts';
import { ProjectedProducts } from '../../../../src/store/sqlite/search/projected-products.ts';
import { Projection } from '../../../../src/store/sqlite/search/projection.ts';
import { openProjectionFile } from '../../../../src/store/sqlite/search/projection-file.ts';
import { makeFolder } from '../../../support/folder.ts';
import { makeNewProduct } from '../../contract/fixture.ts';
import { ALL_SORTS, BY_ID } from './model.ts';

const FILTERS = {
  q: { q: 'mug' }, category: { category: 'Kitchen' }, sku: { sku: makeNewProduct().sku },
  price_min: { priceMin: 1 }, price_max: { priceMax: 2 }, price: { priceMin: 1, priceMax: 2 },
  stock: { stockMin: 1, stockMax: 2 }, updated_since: { updatedSince: 1 },
  changed_since: { changedSince: 1 }, barcode: { barcode: '4006381333931' },
  id: { id: 5 as ProductId },
  archived: { stockMax: 2, archived: true }, archived_or_not: { stockMax: 2, archived: 'any' },
  low_stock: { lowStock: 5 },
} satisfies Record<string, ProductFilter>;
// An invented anchor: plans do not depend on it.
const ANCHOR = { key: 1, id: 5 as ProductId };
const BY_INDEX = /^(?:SEARCH p USING|SCAN t VIRTUAL TABLE INDEX M)/;

for (const [name, filter] of Object.entries({ nothing: {}, ...FILTERS })) {
  test(`finds ${name} by the index of each sort, without sorting`, (t) => {
    for (const query of listQueries(filter)) {
      for (const [sql, plan] of explain(t, query, 0)) {
        for (const step of plan) assert.match(step, BY_INDEX, sql);
      }
    }
  });
}

for (const [name, filter] of Object.entries(FILTERS)) {
  test(`finds few matches of ${name} by their index, and sorts only those`, (t) => {
    for (const query of listQueries(filter)) {
      for (const [sql, [first = '', ...steps]] of explain(t, query)) {
        assert.match(first, BY_INDEX, sql);
        assert.doesNotMatch(first, /PRIMARY KEY|\(seller=\?\)$/, sql);
        for (const step of steps) {
          assert.match(step, /^(?:SEARCH p USING INTEGER PRIMARY KEY \(rowid=\?\)|USE TEMP)/, sql);
        }
      }
    }
  });
}

const SERVED: readonly [string, ProductFilter, ProductSort, plan: readonly string[]][] = [
  ['texts in the order of creation', FILTERS.q, BY_ID, [
    'SCAN t VIRTUAL TABLE INDEX M0><', 'SEARCH p USING INTEGER PRIMARY KEY (rowid=?)',
  ]],
  ['texts in the opposite order', FILTERS.q, { by: 'id', isDescending: true }, [
    'SCAN t VIRTUAL TABLE INDEX M0><', 'SEARCH p USING INTEGER PRIMARY KEY (rowid=?)',
  ]],
  ['a category in the order of creation', FILTERS.category, BY_ID, ['SEARCH p USING INDEX '
    + 'product_category (seller=? AND archived=? AND category=? AND rowid>? AND rowid<?)']],
  ['prices by price', FILTERS.price, { by: 'price', isDescending: true }, [
    'SEARCH p USING INDEX product_price '
      + '(seller=? AND archived=? AND price_minor>? AND price_minor<?)',
  ]],
  ['changes by their time', FILTERS.updated_since, { by: 'updated_at', isDescending: false }, [
    'SEARCH p USING INDEX product_updated (seller=? AND archived=? AND updated_at>?)',
  ]],
];

for (const [what, filter, sort, plan] of SERVED) {
  test(`finds ${what} with one query`, (t) => {
    const plans = [...explainAll(t, { filter, sort, after: undefined, limit: 9 }).values()];
    assert.deepEqual(plans, [plan]);
  });
}

test('continues a range of prices at the anchor', (t) => {
  const sort = { by: 'price', isDescending: false } as const;
  const plans = [...explain(t, { filter: FILTERS.price, sort, after: ANCHOR, limit: 9 })];
  assert.deepEqual(plans.map(([, plan]) => plan), [
    ['SEARCH p USING INDEX product_price '
      + '(seller=? AND archived=? AND price_minor=? AND rowid>? AND rowid<?)'],
    ['SEARCH p USING INDEX product_price '
      + '(seller=? AND archived=? AND price_minor>? AND price_minor<?)'],
  ]);
  assert.match(plans[1]?.[0] ?? '', /AND p\.price_minor > \? .*AND \+p\.price_minor >= \?/);
});

test('finds the anchor of a page and counts matches with indexes', (t) => {
  const sort = { by: 'stock', isDescending: false } as const;
  const plans = [...explainAll(t, { filter: FILTERS.price, sort, after: ANCHOR, limit: 9 })];
  const beside = plans.filter(([sql]) => !sql.startsWith('SELECT p.id')).map(([, plan]) => plan);
  assert.deepEqual(beside, [
    ['CO-ROUTINE (subquery-1)', 'SEARCH p USING COVERING INDEX product_price '
      + '(seller=? AND archived=? AND price_minor>? AND price_minor<?)', 'SCAN (subquery-1)'],
    ['SEARCH product USING COVERING INDEX product_id (seller=? AND id<?)'],
  ]);
});

test('counts low stock by the index of each kind of threshold', (t) => {
  const plans = [...explainWith(t, (db) => new ProductFinder(db).countLowStock(1, 5, 10)).values()];
  assert.deepEqual(plans, [[
    'CO-ROUTINE (subquery-1)',
    'SEARCH product USING INDEX product_low (seller=? AND archived=?)',
    'SCAN (subquery-1)',
  ], [
    'CO-ROUTINE (subquery-1)',
    'SEARCH product USING COVERING INDEX product_stock (seller=? AND archived=? AND stock<?)',
    'SCAN (subquery-1)',
  ]]);
});

test('catches up only with indexes', (t) => {
  const catalogue = openCatalogue(prepareCatalogueFile(makeFolder(t)).file);
  t.after(() => catalogue.close());
  const plans = explainWith(t, (db) => {
    new Projection(db, catalogue);
    db.exec("INSERT INTO seller (ordinal, seller_id, position, seen, mark, rows) "
      + "VALUES (1, 1, 0, 0, '', 1)");
    const products = new ProjectedProducts(db);
    const product = { ...makeNewProduct(), id: ANCHOR.id, position: 1, createdAt: 0, updatedAt: 0 };
    products.insert(1, rowsOf(1).first + 1, product);
    for (const changed of [{ position: 2 }, { name: 'Another' }]) {
      const before = products.find(1, ANCHOR.id);
      assert.ok(before);
      products.update(before, { ...before, ...changed });
    }
  });
  const writes = [...plans].filter(([sql]) => /^(?:SELECT.* FROM|UPDATE|DELETE)/.test(sql));
  assert.equal(writes.length, 16);
  for (const [sql, plan] of writes) {
    if (/LIMIT|^DELETE FROM seller/.test(sql)) { // of a deleted seller
      const scan = /TEMP B-TREE|SCAN (?!(?:product_text|pair) VIRTUAL)/;
      assert.doesNotMatch(plan.join('\n'), scan, sql);
      continue;
    }
    assert.equal(plan.length, 1, sql);
    assert.match(plan[0] ?? '', /^(?:SEARCH|SCAN product_text VIRTUAL TABLE INDEX =)/, sql);
  }
});

/** Every sort, from the start and from an anchor on. */
function listQueries(filter: ProductFilter): ProductQuery[] {
  return ALL_SORTS.flatMap((sort) =>
    [undefined, ANCHOR].map((after) => ({ filter, sort, after, limit: 9 })));
}

/** The steps of the plans of the statements that read products, by SQL. */
function explain(t: TestContext, query: ProductQuery, probeLimit?: number): Map<string, string[]> {
  const plans = [...explainAll(t, query, probeLimit)];
  return new Map(plans.filter(([sql]) => sql.startsWith('SELECT p.id, ')));
}

function explainAll(
  t: TestContext, query: ProductQuery, probeLimit?: number,
): Map<string, string[]> {
  return explainWith(t, (db) => new ProductFinder(db, probeLimit).find(1, query));
}

function explainWith(t: TestContext, work: (db: DatabaseSync) => unknown): Map<string, string[]> {
  const db = openProjectionFile({ search: join(makeFolder(t), 'search.db'), openFiles: [] });
  t.after(() => db.close());
  const plans = new Map<string, string[]>();
  const prepare = db.prepare.bind(db);
  db.prepare = (sql) => {
    const rows = prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    // The plan numbers of FTS5 differ between versions.
    const steps = rows.map(({ detail }) => String(detail).replace(/INDEX \d+:/, 'INDEX '));
    plans.set(sql.replaceAll(/\s+/g, ' ').trim(), steps);
    return prepare(sql);
  };
  work(db);
  return plans;
}
