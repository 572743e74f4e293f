/**
 * The checks of a catalogue that are the same on every engine: of the history, and of data derived
 * from it, such as newest snapshots, daily stock sums and import records.
 */
import { isDeepStrictEqual } from 'node:util';
import { type CatalogueCheck, fault, fillIn, type Scan, scanRows, warning } from './finding.ts';
import { LEDGER_SCANS, POSITION_SCANS } from './history.ts';
import { CHANGING_OUTCOMES } from '../../../domain/catalogue/import.ts';
import {
  PRODUCT_FIELD_NAMES, type ProductFieldName,
} from '../../../domain/catalogue/product-fields.ts';
import { formatProduct } from '../../../domain/catalogue/product.ts';
import type { SellerId } from '../../../domain/id.ts';
import { DAY_MS } from '../../../domain/time.ts';
import { decodeProduct, PRODUCT_COLUMNS } from '../product-rows.ts';
import { readCurrency, readId, readOptional, readText, type Row } from '../sql.ts';

/** The newest snapshot of each product must match the product's row. */
const SNAPSHOT_SCAN: Scan = {
  select: ({ of }) => `
    SELECT p.seller_id, p.id AS product_id,
      ${PRODUCT_COLUMNS.map((name) => `p.${name}`).join(', ')},
      c.product, s.currency, s.currency_decimals
    FROM product AS p JOIN seller AS s ON s.id = p.seller_id
    LEFT JOIN change AS c ON c.seller_id = p.seller_id AND c.position = p.snapshot_position
      AND c.product_id = p.id
    WHERE ${of('p.seller_id')} ORDER BY p.seller_id, p.id`,
  begin: () => (row) => {
    const json = readOptional(row, 'product', readText);
    if (json !== undefined && agrees(parseObject(json), row)) return [];
    return [fault(fillIn(json === undefined ? 'The history has no snapshot of product {product}.'
      : 'The newest snapshot of product {product} differs from the product.', row))];
  },
};

/** Members that change without a new snapshot, and the creation time. */
const NOT_COMPARED: ReadonlySet<ProductFieldName> = new Set([
  'stock', 'position', 'created_at', 'updated_at',
]);

function agrees(snapshot: Readonly<Record<string, unknown>>, row: Row): boolean {
  const owner = { sellerId: readId<SellerId>(row, 'seller_id'), currency: readCurrency(row) };
  const product = decodeProduct(owner, PRODUCT_COLUMNS.map((name) => row[name] ?? null));
  const now = parseObject(formatProduct(product));
  return PRODUCT_FIELD_NAMES.every((name) =>
    NOT_COMPARED.has(name) || isDeepStrictEqual(snapshot[name] ?? null, now[name] ?? null));
}

/** Empty for invalid JSON. */
function parseObject(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    // What any object is.
    return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {};
  } catch {
    return {};
  }
}

const MAX_UNITS = Number.MAX_SAFE_INTEGER;

/** Days whose sums differ from the ledger's, with the differences. */
const selectDifferentDays: Scan['select'] = ({ of }) => `
  WITH moved AS (
    SELECT c.seller_id, c.at / ${DAY_MS} AS day,
      ${sumUnits('c.stock_after - c.stock_before')} AS units_in,
      ${sumUnits('c.stock_before - c.stock_after')} AS units_out
    FROM change AS c JOIN seller AS s ON s.id = c.seller_id
    WHERE c.position > s.pruned_to AND c.stock_after <> c.stock_before AND ${of('c.seller_id')}
    GROUP BY 1, 2
  ), summed AS (
    SELECT seller_id, day, units_in, units_out FROM stock_day WHERE ${of('seller_id')}
  ), days AS (
    SELECT coalesce(d.seller_id, m.seller_id) AS seller_id, coalesce(d.day, m.day) AS day,
      d.day IS NULL AS is_missing,
      coalesce(d.units_in, 0) - coalesce(m.units_in, 0) AS more_in,
      coalesce(d.units_out, 0) - coalesce(m.units_out, 0) AS more_out
    FROM summed AS d FULL JOIN moved AS m ON m.seller_id = d.seller_id AND m.day = d.day
  )
  SELECT b.*, more_in < 0 OR more_out < 0 AS is_less,
    ${formatUnits('more_in')} AS units_in, ${formatUnits('more_out')} AS units_out,
    s.pruned_to > 0 AS is_pruned, coalesce((
      SELECT c.at / ${DAY_MS} FROM change AS c
      WHERE c.seller_id = b.seller_id AND c.position > s.pruned_to ORDER BY c.position LIMIT 1
    ), b.day) AS first_day, coalesce((
      SELECT min(d.day) FROM stock_day AS d WHERE d.seller_id = b.seller_id
    ), b.day + 1) AS kept_from
  FROM days AS b JOIN seller AS s ON s.id = b.seller_id
  WHERE more_in <> 0 OR more_out <> 0 ORDER BY b.seller_id, b.day`;

function sumUnits(difference: string): string {
  const sum = `sum(CASE WHEN ${difference} > 0 THEN ${difference} ELSE 0 END)`;
  return `CAST(CASE WHEN ${sum} > ${MAX_UNITS} THEN ${MAX_UNITS} ELSE ${sum} END AS bigint)`;
}

function formatUnits(more: string): string {
  return `abs(${more}) || CASE WHEN ${more} < 0 THEN ' less' ELSE ' more' END`;
}

const DIFFERENT_UNITS = 'The units that seller {seller} moved on {date} do not agree with its '
  + 'ledger: {units_in} in, {units_out} out.';

/**
 * The daily sums must match the ledger. Pruning removes a day before all of its changes, so the sum
 * of a partly pruned day may be larger; and a clock that was once far ahead may have changed a
 * later day.
 */
const STOCK_DAY_SCAN = scanRows(selectDifferentDays, [
  ['NOT is_pruned OR (is_less AND NOT (is_missing AND day < kept_from))', DIFFERENT_UNITS],
  ['is_pruned AND NOT is_less AND day > first_day', DIFFERENT_UNITS, (sentence) =>
    warning(sentence, 'A wrong clock causes this; only the chart of that day is wrong.')],
]);

const OUTCOMES = CHANGING_OUTCOMES.map((name) => `'${name}'`).join(', ');

/** Each import with its kept changes, and how many changes its record counts. */
const selectImports: Scan['select'] = ({ of, members }) => `
  WITH imported AS (
    SELECT c.seller_id, c.import_id, min(c.position) AS first, max(c.position) AS last,
      count(*) AS changes
    FROM change AS c JOIN seller AS s ON s.id = c.seller_id
    WHERE c.import_id IS NOT NULL AND c.position > s.pruned_to AND ${of('c.seller_id')}
    GROUP BY 1, 2
  ), recorded AS (
    SELECT seller_id, id, counts, first_position, last_position FROM import
    WHERE ${of('seller_id')}
  )
  SELECT coalesce(i.seller_id, m.seller_id) AS seller_id, coalesce(i.id, m.import_id) AS import_id,
    i.id IS NULL AS is_missing, m.first, m.last, m.changes, i.first_position, i.last_position,
    (SELECT CAST(coalesce(sum(CAST(o.value AS bigint)), 0) AS bigint)
      FROM ${members('i.counts')} AS o WHERE o.key IN (${OUTCOMES})) AS counted,
    coalesce(i.first_position > s.pruned_to, TRUE) AS is_first_kept,
    coalesce(i.last_position > s.pruned_to, TRUE) AS is_last_kept
  FROM recorded AS i FULL JOIN imported AS m ON m.seller_id = i.seller_id AND m.import_id = i.id
  JOIN seller AS s ON s.id = coalesce(i.seller_id, m.seller_id)
  ORDER BY 1, 2`;

/** Import records must name the changes of their imports. Pruning removes a record last. */
const IMPORT_SCAN = scanRows(selectImports, [
  ['is_missing', 'The history has changes of import {import}, which has no record.'],
  [`NOT is_missing AND ((is_first_kept AND first IS DISTINCT FROM first_position)
    OR (is_last_kept AND last IS DISTINCT FROM last_position))`,
  'Import {import} changed positions {first} to {last}, and its record says {first_position} '
    + 'to {last_position}.'],
  ['NOT is_missing AND is_first_kept AND coalesce(changes, 0) <> counted',
    'Import {import} made {changes} changes, and its record counts {counted}.'],
]);

/** No webhook may be ahead of its seller's position. */
const WEBHOOK_SCAN = scanRows(({ of }) => `
  SELECT w.seller_id, w.id AS webhook_id, s.position,
    CASE WHEN w.message_last > w.position THEN w.message_last ELSE w.position END AS reached
  FROM webhook AS w JOIN seller AS s ON s.id = w.seller_id
  WHERE ${of('w.seller_id')} ORDER BY w.seller_id, w.id`, [
  ['reached > position',
    'Webhook {webhook} is at position {reached}, and its seller at {position}.', (sentence) =>
      fault(sentence, 'Replay it from an existing position, or delete it and create another.')],
]);

/** Each account must be found by its e-mail address. */
const ACCOUNT_SCAN = scanRows(({ of }) => `
  SELECT a.seller_id, a.email, e.email AS found FROM account AS a
  LEFT JOIN account_email AS e ON e.seller_id = a.seller_id AND e.account_id = a.id
  WHERE ${of('a.seller_id')} ORDER BY a.seller_id, a.id`, [
  ['found IS DISTINCT FROM email',
    'Signing in does not find the account of {seller} by its e-mail address.'],
]);

/** Each seller must be found by its external id. */
const EXTERNAL_ID_SCAN = scanRows(({ of }) => `
  SELECT s.id AS seller_id, s.external_id, e.external_id AS found FROM seller AS s
  LEFT JOIN seller_external_id AS e ON e.seller_id = s.id
  WHERE ${of('s.id')} ORDER BY s.id`, [
  ['found IS DISTINCT FROM external_id', '{seller} is not found by its external id.'],
]);

export const CATALOGUE_CHECKS: readonly CatalogueCheck[] = [
  {
    name: 'positions', subject: 'positions of the history, without a gap', scans: POSITION_SCANS,
  },
  {
    name: 'ledger', subject: 'stock of each product, as the sum of its movements',
    scans: LEDGER_SCANS,
  },
  {
    name: 'descriptions', subject: 'products, as in their newest snapshot',
    scans: [SNAPSHOT_SCAN],
  },
  {
    name: 'stock-days', subject: 'units moved on each day, as in the ledger',
    scans: [STOCK_DAY_SCAN],
  },
  { name: 'imports', subject: 'records of imports, as their changes', scans: [IMPORT_SCAN] },
  { name: 'webhooks', subject: 'positions of webhooks', scans: [WEBHOOK_SCAN] },
  {
    name: 'accounts',
    subject: 'accounts, by their e-mail addresses, and sellers, by their external ids',
    scans: [ACCOUNT_SCAN, EXTERNAL_ID_SCAN],
  },
];

/** Its scans are those of `audit-chain.ts`, which need the key. */
export const AUDIT_CHECK: Omit<CatalogueCheck, 'scans'> = {
  name: 'audit-chain', subject: 'the audit log: its hash chain and authentication codes',
};
