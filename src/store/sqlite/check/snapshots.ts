/** Whether the newest description of each product in the history is the product as it stands. */
import type { DatabaseSync } from 'node:sqlite';
import { fromMinorUnits } from '../../../domain/catalogue/currency.ts';
import { formatProductId, type ProductId, type SellerId } from '../../../domain/id.ts';
import { readCurrency, readInteger, readOptional, readText, type Row } from '../engine/row.ts';
import { fault, type Finding, RESTORE } from './finding.ts';

export function* checkDescriptions(db: DatabaseSync): Generator<Finding, void, void> {
  const rows = db.prepare(`
    SELECT p.seller_id, p.id, p.sku, p.name, p.category, p.price_minor, c.product,
      s.currency, s.currency_decimals
    FROM product AS p JOIN seller AS s ON s.id = p.seller_id
    LEFT JOIN change AS c ON c.seller_id = p.seller_id AND c.position = p.snapshot_position
      AND c.product_id = p.id
    ORDER BY p.seller_id, p.id`);
  for (const row of rows.iterate()) {
    // The columns hold what these brands mean.
    const [sellerId, id] = [readInteger(row, 'seller_id') as SellerId,
      readInteger(row, 'id') as ProductId];
    const name = formatProductId(sellerId, id);
    const told = readOptional(row, 'product', readText);
    if (told === undefined) {
      yield fault(`The history does not describe product ${name}.`, RESTORE);
    } else if (!isDescribed(row, name, told)) {
      yield fault(`The history describes product ${name} otherwise than it is.`, RESTORE);
    }
  }
}

/** All but what changes without being described anew: stock, position and time. */
function isDescribed(row: Row, id: string, json: string): boolean {
  const told = parse(json);
  const currency = readCurrency(row);
  return told['id'] === id && told['sku'] === readText(row, 'sku')
    && told['name'] === readText(row, 'name') && told['category'] === readText(row, 'category')
    && told['price'] === Number(fromMinorUnits(readInteger(row, 'price_minor'), currency))
    && told['currency'] === currency.code;
}

function parse(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    // What any object is.
    return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {};
  } catch {
    return {}; // not JSON: it describes nothing
  }
}
