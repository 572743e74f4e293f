/**
 * The OpenAPI operations, parameters and JSON Schemas of the change feed and of the ledger of stock
 * movements.
 */
import { EVENT_STREAM_TYPE, JSON_TYPE } from '../../api/media-types.ts';
import type { Operation, Parameter } from '../../api/description/operation.ts';
import { cursor, format, instant, pageLimit, position } from '../../api/description/parameters.ts';
import { skuReference } from '../../domain/catalogue/product-fields.ts';
import { count, enumOf, objectOf, pageOf, refer, time } from '../../api/description/schema.ts';
import { movementSchemas, positionSchema, productIdSchema } from '../../api/stock/stock-schemas.ts';
import { CHANGE_TYPES, type ChangeType } from '../../domain/catalogue/change.ts';
import type { Schema } from '../../domain/validation.ts';
import { stockChange, stockMovement } from '../../api/description/examples.ts';
import { describeList } from '../../api/stock/stock-operations.ts';
import { stockReason } from '../../domain/catalogue/stock-change.ts';
import { stockSource } from '../../domain/catalogue/stock-sync.ts';
import {
  CHANGES_PAGE_SIZE_DEFAULT, CHANGES_PAGE_SIZE_LIMIT, CHANGES_WAIT_LIMIT_SECONDS,
} from './limits.ts';

export const listChangesOperation: Operation = {
  id: 'listChanges',
  summary: 'Follow what happens to your catalogue',
  description: 'Every change in its order, without a gap: a page of those after a position, at '
    + 'once, or with `wait` as soon as there is one. With `Accept: text/event-stream` a stream of '
    + 'Server-Sent Events: first what happened since `after`, or since the `Last-Event-ID`, then '
    + 'what happens from now on. The `id` of an event is the position.',
  requestHeaders: ['LastEventId'],
  answers: {
    200: {
      description: 'A page, or a stream.',
      headers: ['AccelBuffering'],
      content: {
        [JSON_TYPE]: {
          schema: refer('ChangePage'), example: { changes: [stockChange], next: 13 },
        },
        [EVENT_STREAM_TYPE]: {
          schema: {
            type: 'string', contentMediaType: EVENT_STREAM_TYPE,
            description: 'The `data` of each event is a `Change`.',
          },
          example: `id: 13\ndata: ${JSON.stringify(stockChange)}\n\n`,
        },
      },
    },
  },
  problems: [410],
};

const { data, ...origin } = stockChange;
const movement = { ...origin, ...stockMovement };

export const listMovementsOperation: Operation = {
  id: 'listMovements',
  summary: 'Read the ledger of stock',
  description: 'Every movement of stock that the history has, in its order: what moved, when, by '
    + 'which key and why. A page may be empty and have a `next_cursor`, where much of the history '
    + 'does not meet the conditions. With `Accept: application/x-ndjson` or `text/csv` all of it.',
  answers: {
    200: describeList({
      schema: refer('MovementPage'), example: { movements: [movement], next_cursor: null },
    }, 'Movement', movement),
  },
};

/** The types that the parameter of a feed takes. */
const changeTypeList: Schema = {
  type: 'array', minItems: 1, items: { type: 'string', enum: CHANGE_TYPES },
};

export const changesParameters: readonly Parameter[] = [
  {
    name: 'after', description: 'Only what happened after this position.', example: 12,
    schema: { ...position, default: 0 },
  },
  {
    name: 'limit', description: 'Changes on a page. Not for streams.', example: 10,
    schema: {
      type: 'integer', minimum: 1, maximum: CHANGES_PAGE_SIZE_LIMIT,
      default: CHANGES_PAGE_SIZE_DEFAULT,
    },
  },
  {
    name: 'types', description: 'Only changes of these types.', example: ['stock', 'created'],
    schema: changeTypeList,
  },
  {
    name: 'wait', example: 1,
    description: 'Where there is no change yet, wait so many seconds for one. Not for streams.',
    schema: { type: 'integer', minimum: 0, maximum: CHANGES_WAIT_LIMIT_SECONDS, default: 0 },
  },
];

export const movementParameters: readonly Parameter[] = [
  {
    name: 'sku', example: 'MUG-1', schema: skuReference.schema,
    description: 'Of the product that has this SKU, and of those that had it when they were '
      + 'deleted; what they were called before does not count.',
  },
  {
    name: 'id', description: 'Of the product with this id.', schema: { type: 'string' },
    example: 'prd_1k7s94cm9001k7s94bi600',
  },
  {
    name: 'source', description: 'From this system.', example: 'erp',
    schema: stockSource.schema,
  },
  {
    name: 'reason', description: 'For this reason.', example: 'sold',
    schema: stockReason.schema,
  },
  {
    name: 'since', description: 'At this time or later.', schema: instant,
    example: '2026-11-20T10:48:13.257Z',
  },
  {
    name: 'until', description: 'At this time or before.', schema: instant,
    example: '2026-12-31T23:59:59Z',
  },
  { name: 'after', description: 'After this position.', example: 12, schema: position },
  {
    name: 'sort', description: 'With the minus, the newest come first.', example: '-position',
    schema: { type: 'string', enum: ['position', '-position'], default: 'position' },
  },
  pageLimit, cursor, format,
];

const changeTypes: Readonly<Record<ChangeType, string>> = {
  created: 'the product was created',
  updated: 'more of it was changed than its stock',
  deleted: 'it was deleted; `data` is what it last was',
  stock: 'its stock moved, and nothing else',
};

const originSchemas = {
  position: positionSchema,
  type: { type: 'string', ...enumOf(changeTypes) },
  product_id: productIdSchema,
  sku: {
    ...skuReference.schema, description: 'After the change; of a deleted product, the last one.',
  },
  at: time,
  key_id: { type: 'string', description: 'The API key by which it was made.' },
};

export const historySchemas: Readonly<Record<string, Schema>> = {
  Change: objectOf({
    ...originSchemas,
    data: {
      anyOf: [refer('Product'), refer('StockMovement')],
      description: 'The product; or, of the type `stock`, the movement.',
    },
  }),
  ChangePage: objectOf({
    changes: { type: 'array', items: refer('Change') },
    next: { ...count, description: 'The `after` with which to go on.' },
  }),
  Movement: objectOf({ ...originSchemas, ...movementSchemas }),
  MovementPage: pageOf('movements', refer('Movement')),
};
