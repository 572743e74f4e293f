/**
 * The OpenAPI operations, parameters and JSON Schemas of the change feed and of the ledger of stock
 * movements.
 */
import { EVENT_STREAM_TYPE, JSON_TYPE } from '../../api/media-types.ts';
import type { Operation } from '../../api/description/operation.ts';
import { listParameters } from '../../api/list.ts';
import {
  choice, choiceList, instant, integer, position, sku, withDefault,
} from '../../api/parameters.ts';
import type { Caller } from '../../domain/access/caller.ts';
import { parseProductId, type ProductId } from '../../domain/id.ts';
import { skuReference, stockQuantity } from '../../domain/catalogue/product-fields.ts';
import {
  count, describeList, enumOf, nullable, objectOf, pageOf, refer, time,
} from '../../api/description/schema.ts';
import { positionSchema, productIdSchema } from '../../api/stock/stock-schemas.ts';
import { CHANGE_TYPES, type ChangeType } from '../../domain/catalogue/change.ts';
import type { Schema } from '../../domain/validation.ts';
import { stockChange, stockMovement } from '../../api/description/examples.ts';
import {
  stockDelta, stockReason, stockSequence,
} from '../../domain/catalogue/stock-change.ts';
import { stockSource } from '../../domain/catalogue/stock-sync.ts';
import {
  CHANGES_PAGE_SIZE_DEFAULT, CHANGES_PAGE_SIZE_LIMIT, CHANGES_WAIT_LIMIT_SECONDS,
} from './limits.ts';

export const changesParameters = {
  after: {
    ...withDefault(position, 0),
    description: 'Only what happened after this position.', example: 12,
  },
  limit: {
    ...withDefault(integer(1, CHANGES_PAGE_SIZE_LIMIT), CHANGES_PAGE_SIZE_DEFAULT),
    description: 'Changes on a page. Not for streams.', example: 10,
  },
  types: {
    ...choiceList(CHANGE_TYPES),
    description: 'Only changes of these types.', example: ['stock', 'created'],
  },
  wait: {
    ...withDefault(integer(0, CHANGES_WAIT_LIMIT_SECONDS), 0), example: 1,
    description: 'Where there is no change yet, wait so many seconds for one. Not for streams.',
  },
} as const;

/** The id of no product: what is no id of the seller's has no movements. */
const NO_PRODUCT = 0 as ProductId;

export const movementParameters = {
  sku: {
    ...sku, example: 'MUG-1',
    description: 'Of the product that has this SKU, and of those that had it when they were '
      + 'deleted; what they were called before does not count.',
  },
  id: {
    schema: { type: 'string' },
    parse: (id: string, { sellerId }: Pick<Caller, 'sellerId'>) =>
      ({ value: parseProductId(sellerId, id) ?? NO_PRODUCT }),
    description: 'Of the product with this id.', example: 'prd_1k7s94cm9001k7s94bi600',
  },
  source: { ...stockSource, description: 'From this system.', example: 'erp' },
  reason: { ...stockReason, description: 'For this reason.', example: 'sold' },
  since: {
    ...instant, description: 'At this time or later.', example: '2026-11-20T10:48:13.257Z',
  },
  until: { ...instant, description: 'At this time or before.', example: '2026-12-31T23:59:59Z' },
  after: { ...position, description: 'After this position.', example: 12 },
  sort: {
    ...withDefault(choice(['position', '-position']), 'position'),
    description: 'With the minus, the newest come first.', example: '-position',
  },
  ...listParameters,
} as const;

export const listChangesOperation: Operation = {
  id: 'listChanges',
  summary: 'Follow what happens to your catalogue',
  description: 'Every change in its order, without a gap: a page of those after a position, at '
    + 'once, or with `wait` as soon as there is one. With `Accept: text/event-stream` a stream of '
    + 'Server-Sent Events: first what happened since `after`, or since the `Last-Event-ID`, then '
    + 'what happens from now on. The `id` of an event is the position.',
  query: changesParameters,
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
  query: movementParameters,
  answers: {
    200: describeList({
      schema: refer('MovementPage'), example: { movements: [movement], next_cursor: null },
    }, 'Movement', movement),
  },
};

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

const movementSchemas = {
  before: stockQuantity.schema, after: stockQuantity.schema,
  delta: stockDelta.schema,
  reason: nullable({ ...stockReason.schema, description: 'Why.' }),
  source: nullable({
    ...stockSource.schema, description: 'The system that the numbers come from.',
  }),
  sequence: nullable(stockSequence.schema),
};

export const historySchemas: Readonly<Record<string, Schema>> = {
  StockMovement: objectOf(movementSchemas),
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
