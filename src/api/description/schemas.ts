/**
 * The JSON Schemas (2020-12) of requests and responses, derived from validators. Requests with
 * unknown members are rejected; responses may gain members, so clients should accept unknown ones.
 */
import type { Issue } from '../../domain/error.ts';
import {
  PRODUCT_FIELD_NAMES, PRODUCT_FIELDS, type ProductField, SENT_FIELDS, skuValidator,
} from '../../domain/catalogue/product-fields.ts';
import {
  importIdSchema, positionSchema, productIdSchema, stockSchemas, syncResponse,
} from '../stock/stock-operations.ts';
import {
  closedObjectOf, count, describeMembers, enumOf, nullable, objectOf, pageOf, problem, refer, time,
  unionOf,
} from './schema.ts';
import type { Schema } from '../../domain/validation.ts';
import { LOOKUP_MATCHES_LIMIT } from '../../store/limits.ts';
import { LOOKUP_QUERIES_SCHEMA, LOOKUP_VALIDATORS } from '../products/lookup.ts';
import { actorName } from '../../domain/access/caller.ts';
import { CHANGE_TYPES, type ChangeType } from '../../domain/catalogue/change.ts';
import { stockQuantity } from '../../domain/catalogue/product-definition.ts';
import { stockDelta, stockReason, stockSequence } from '../../domain/catalogue/stock-change.ts';
import { stockSource } from '../../domain/catalogue/stock-sync.ts';

export const product = describeFields(PRODUCT_FIELDS);
const required = SENT_FIELDS.filter(({ isRequired }) => isRequired).map(({ name }) => name);
const optional = SENT_FIELDS.filter(({ isRequired }) => !isRequired);
/** Null means absent, also for a pair of metadata. */
export const inputMembers = {
  ...describeFields(SENT_FIELDS), ...describeFields(optional.map(acceptNull)),
};
const alwaysThere = PRODUCT_FIELD_NAMES.filter((name) =>
  !optional.some((field) => field.name === name));

function acceptNull(field: ProductField): ProductField {
  const { additionalProperties: pair, ...schema } = nullable(field.schema);
  // The cast: it is a schema.
  const pairs = pair === undefined ? {} : { additionalProperties: nullable(pair as Schema) };
  return { ...field, schema: { ...schema, ...pairs } };
}

function describeFields(fields: readonly ProductField[]): Readonly<Record<string, Schema>> {
  return describeMembers(Object.fromEntries(fields.map((field) => [field.name, field])));
}

const issueCodes: Readonly<Record<Issue['code'], string>> = {
  required: 'the value is missing',
  unknown: 'no such member or parameter exists',
  duplicate: 'the member or parameter occurs twice',
  type: 'the value has the wrong type',
  blank: 'the value has no visible characters',
  length: 'the value is too long',
  range: 'the value is too small or too large',
  precision: 'the number has too many decimals, or more digits than can be stored exactly',
  format: 'the value has the wrong format',
  characters: 'the value contains characters that are not allowed',
  mismatch: 'the value contradicts another part of the request',
  taken: 'another product has this value',
  target: 'messages cannot be sent to this address',
  ambiguous: 'several products have this value',
  rejected: 'a rule of the shop rejected the change',
};

function lookedUp(item: Schema): Schema {
  return objectOf({
    results: {
      type: 'array', items: { type: 'array', maxItems: LOOKUP_MATCHES_LIMIT, items: item },
    },
    position: { ...count, description: 'Position of the catalogue at which all were read.' },
  });
}

export const schemas: Readonly<Record<string, Schema>> = {
  Product: {
    ...objectOf(product, alwaysThere),
    description: 'Members without a value are absent.',
  },
  NewProduct: closedObjectOf(inputMembers, required),
  ProductReplacement: {
    ...closedObjectOf(inputMembers, required.filter((name) => name !== 'sku')),
    description: '`sku` is optional. If sent, it must be the SKU in the path.',
  },
  ProductPatch: {
    ...closedObjectOf(inputMembers, []),
    description: 'Null removes the value of an optional member. `metadata` merges its pairs.',
  },
  ProductPage: pageOf('products', refer('Product')),
  PartialProduct: {
    ...objectOf(product, []), description: 'A product with the members that `fields` selects.',
  },
  PartialProductPage: pageOf('products', refer('PartialProduct')),
  ProductLookup: closedObjectOf({
    queries: {
      ...LOOKUP_QUERIES_SCHEMA,
      items: {
        ...closedObjectOf(describeMembers(LOOKUP_VALIDATORS), []),
        minProperties: 1, maxProperties: 1,
      },
    },
  }),
  LookedUpProducts: lookedUp(refer('Product')),
  PartialLookedUpProducts: lookedUp(refer('PartialProduct')),
  ...stockSchemas,
  Problem: {
    ...objectOf({ ...problem, ...syncResponse }, ['type', 'title', 'status', 'detail']),
    description: 'RFC 9457 problem details. For a rejected stock request, also its results.',
  },
  Issue: objectOf({
    pointer: { type: 'string', description: 'JSON Pointer to the body member with the error.' },
    parameter: { type: 'string', description: 'Name of the query parameter with the error.' },
    code: { type: 'string', ...enumOf(issueCodes) },
    detail: problem.detail,
  }, ['code', 'detail']),
};

const changeTypes: Readonly<Record<ChangeType, string>> = {
  created: 'the product was created',
  updated: 'members other than `stock` changed, and perhaps `stock`',
  deleted: 'the product was deleted; `data` is its last state',
  stock: 'only the stock changed',
};

/** A change with one of these types: what, when and who, and more members. */
export function describeChange(
  names: readonly ChangeType[], members: Readonly<Record<string, Schema>>,
): Schema {
  const meanings = Object.fromEntries(names.map((name) => [name, changeTypes[name]]));
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

/** Of the change feed and of webhook messages, which features serve. */
export const changeSchemas: Readonly<Record<string, Schema>> = {
  Change: {
    ...unionOf({
      ...Object.fromEntries(productTypes.map((type) => [type, 'ProductChange'])),
      stock: 'StockMovementChange',
    }),
    description: 'A change of a product: `type` determines the shape of `data`.',
  },
  ProductChange: describeChange(productTypes, { data: refer('Product') }),
  StockMovementChange: describeChange(['stock'], { data: refer('StockMovement') }),
  StockMovement: objectOf(movementSchemas),
};
