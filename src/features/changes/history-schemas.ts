/** The JSON Schemas of the history: changes of the catalogue and stock movements. */
import { CHANGE_TYPES, type ChangeType } from '../../domain/catalogue/change.ts';
import { count, enumOf, objectOf, pageOf, refer, time } from '../../api/description/schema.ts';
import type { Schema } from '../../domain/validation.ts';
import { id, movement, position, sku } from '../../api/stock/stock-schemas.ts';

const changeTypes: Readonly<Record<ChangeType, string>> = {
  created: 'the product was created',
  updated: 'more of it was changed than its stock',
  deleted: 'it was deleted; `data` is what it last was',
  stock: 'its stock moved, and nothing else',
};

const origin = {
  position,
  type: { type: 'string', ...enumOf(changeTypes) },
  product_id: id,
  sku: { ...sku, description: 'After the change; of a deleted product, the last one.' },
  at: time,
  key_id: { type: 'string', description: 'The API key by which it was made.' },
};

export const historySchemas: Readonly<Record<string, Schema>> = {
  Change: objectOf({
    ...origin,
    data: {
      anyOf: [refer('Product'), refer('StockMovement')],
      description: 'The product; or, of the type `stock`, the movement.',
    },
  }),
  ChangePage: objectOf({
    changes: { type: 'array', items: refer('Change') },
    next: { ...count, description: 'The `after` with which to go on.' },
  }),
  Movement: objectOf({ ...origin, ...movement }),
  MovementPage: pageOf('movements', refer('Movement')),
};

/** The types that the parameter of a feed takes. */
export const changeTypeList: Schema = {
  type: 'array', minItems: 1, items: { type: 'string', enum: CHANGE_TYPES },
};
