/** The JSON Schemas of changes, which the change feed returns and webhook messages carry. */
import { actorName } from '../../domain/access/caller.ts';
import { CHANGE_TYPES, type ChangeType } from '../../domain/catalogue/change.ts';
import { skuValidator } from '../../domain/catalogue/product-fields.ts';
import { stockQuantity } from '../../domain/catalogue/stock-quantity.ts';
import {
  stockDelta, stockReason, stockSequence,
} from '../../domain/catalogue/stock-change.ts';
import { stockSource } from '../../domain/catalogue/stock-sync.ts';
import type { Schema } from '../../domain/validation.ts';
import { importIdSchema, positionSchema, productIdSchema } from '../stock/stock-schemas.ts';
import { enumOf, nullable, objectOf, refer, time, unionOf } from './schema.ts';

const types: Readonly<Record<ChangeType, string>> = {
  created: 'the product was created',
  updated: 'members other than `stock` changed, and perhaps `stock`',
  deleted: 'the product was deleted; `data` is its last state',
  stock: 'only the stock changed',
};

/** A change with one of these types: what, when and who, and more members. */
export function describeChange(
  names: readonly ChangeType[], members: Readonly<Record<string, Schema>>,
): Schema {
  const meanings = Object.fromEntries(names.map((name) => [name, types[name]]));
  const required = {
    position: positionSchema,
    type: { type: 'string', ...enumOf(meanings) },
    product_id: productIdSchema,
    sku: {
      ...skuValidator.schema, description: 'After the change; for a deleted product, the last one.',
    },
    at: time,
    key_id: { type: 'string', description: 'The API key that made the change.' },
    ...members,
  };
  const actor = {
    ...actorName.schema,
    description: 'Who made the change without an API key: an account of the portal, or the actor '
      + 'that the embedding program named. Absent for keys.',
  };
  const imported = {
    ...importIdSchema, description: 'The import that made the change. Absent for single writes.',
  };
  return objectOf({ ...required, actor, import: imported }, Object.keys(required));
}

export const movementSchemas = {
  before: stockQuantity.schema, after: stockQuantity.schema,
  delta: stockDelta.schema,
  reason: nullable({ ...stockReason.schema, description: 'Why the stock moved.' }),
  source: nullable({
    ...stockSource.schema, description: 'The system that the numbers come from.',
  }),
  sequence: nullable(stockSequence.schema),
};

const productTypes = CHANGE_TYPES.filter((type) => type !== 'stock');

export const changeSchemas: Readonly<Record<string, Schema>> = {
  Change: {
    ...unionOf('type', {
      ...Object.fromEntries(productTypes.map((type) => [type, 'ProductChange'])),
      stock: 'StockMovementChange',
    }),
    description: 'A change of a product: `type` determines the shape of `data`.',
  },
  ProductChange: describeChange(productTypes, { data: refer('Product') }),
  StockMovementChange: describeChange(['stock'], { data: refer('StockMovement') }),
  StockMovement: objectOf(movementSchemas),
};
