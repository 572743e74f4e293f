/** The OpenAPI operations, parameters and schemas of the change feed and the stock ledger. */
import { EVENT_STREAM_TYPE } from '../../api/media-types.ts';
import type { Operation, Tag } from '../../api/description/operation.ts';
import { listParameters } from '../../api/list.ts';
import {
  choice, choiceList, instant, integer, position, sku, withDefault,
} from '../../api/parameters.ts';
import type { Caller } from '../../domain/access/caller.ts';
import { type ImportId, parseImportId, parseProductId, type ProductId } from '../../domain/id.ts';
import { changeSchemas, describeChange, movementSchemas } from '../../api/description/schemas.ts';
import {
  describeList, jsonOf, objectOf, pageOf, refer, respondJson,
} from '../../api/description/schema.ts';
import { stockTag } from '../../api/stock/stock-operations.ts';
import { CHANGE_TYPES } from '../../domain/catalogue/change.ts';
import { revisionSchema } from '../../domain/revision.ts';
import type { Schema } from '../../domain/validation.ts';
import { importId, stockChange, stockMovement } from '../../api/description/examples.ts';
import { stockReason } from '../../domain/catalogue/stock-change.ts';
import { stockSource } from '../../domain/catalogue/stock-sync.ts';
import {
  CHANGES_PAGE_SIZE_DEFAULT, CHANGES_PAGE_SIZE_LIMIT, CHANGES_WAIT_LIMIT_SECONDS,
} from './limits.ts';

/** Match nothing: an id that is not the seller's has no changes. */
const NO_PRODUCT = 0 as ProductId;
const NO_IMPORT = 0 as ImportId;

const importParameter = {
  schema: { type: 'string' },
  parse: (id: string, { sellerId }: Pick<Caller, 'sellerId'>) =>
    ({ value: parseImportId(sellerId, id) ?? NO_IMPORT }),
  example: importId,
};

export const changesParameters = {
  after: {
    ...withDefault(position, 0),
    description: 'Only changes after this position.', example: 12,
  },
  limit: {
    ...withDefault(integer(1, CHANGES_PAGE_SIZE_LIMIT), CHANGES_PAGE_SIZE_DEFAULT),
    description: 'Changes per page. Not for streams.', example: 10,
  },
  types: {
    ...choiceList(CHANGE_TYPES),
    description: 'Only changes of these types.', example: ['stock', 'created'],
  },
  import: { ...importParameter, description: 'Only changes of the import with this id.' },
  wait: {
    ...withDefault(integer(0, CHANGES_WAIT_LIMIT_SECONDS), 0), example: 1,
    description: 'Seconds to wait for a change if there is none yet. Not for streams.',
  },
} as const;

export const movementParameters = {
  sku: {
    ...sku, example: 'MUG-1',
    description: 'Only movements of the product with this SKU, and of deleted products whose last '
      + 'SKU it was. Former SKUs of a product do not match.',
  },
  id: {
    schema: { type: 'string' },
    parse: (id: string, { sellerId }: Pick<Caller, 'sellerId'>) =>
      ({ value: parseProductId(sellerId, id) ?? NO_PRODUCT }),
    description: 'Only movements of the product with this id.',
    example: 'prd_1k7s94cm9001k7s94bi600',
  },
  source: { ...stockSource, description: 'Only movements from this system.', example: 'erp' },
  reason: { ...stockReason, description: 'Only movements with this reason.', example: 'sold' },
  import: { ...importParameter, description: 'Only movements of the import with this id.' },
  since: {
    ...instant, description: 'At this time or later.', example: '2026-11-20T10:48:13.257Z',
  },
  until: { ...instant, description: 'At this time or earlier.', example: '2026-12-31T23:59:59Z' },
  after: { ...position, description: 'After this position.', example: 12 },
  sort: {
    ...withDefault(choice(['position', '-position']), 'position'),
    description: '`-position` returns the newest first.', example: '-position',
  },
  ...listParameters,
} as const;

const tag: Tag = {
  name: 'Changes', description: 'Follow every change to your catalogue, in order and without gaps.',
};

export const listChangesOperation: Operation = {
  id: 'listChanges',
  tag,
  summary: 'Follow changes to your catalogue',
  description: 'Returns every change in order and without gaps: a page of the changes after a '
    + 'position, immediately or, with `wait`, as soon as there is one. With '
    + '`Accept: text/event-stream`, returns Server-Sent Events: first the changes since `after` or '
    + 'the `Last-Event-ID`, then new changes as they happen. The `id` of an event is its position.',
  query: changesParameters,
  requestHeaders: ['LastEventId'],
  responses: {
    200: {
      ...respondJson('A page, or a stream.', 'ChangePage', { changes: [stockChange], next: 13 }),
      headers: ['AccelBuffering'],
      alternatives: {
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
  tag: stockTag,
  summary: 'Read the stock ledger',
  description: 'Returns the stock movements in the history, in order: what moved, when, by which '
    + 'key and why. A page can be empty and still have a `next_cursor`, if much of the history '
    + 'does not match. With `Accept: application/x-ndjson` or `text/csv`, returns all movements.',
  query: movementParameters,
  responses: {
    200: describeList(
      jsonOf('MovementPage', { movements: [movement], next_cursor: null }), 'Movement', movement,
    ),
  },
};

export const historySchemas: Readonly<Record<string, Schema>> = {
  ...changeSchemas,
  ChangePage: objectOf({
    changes: { type: 'array', items: refer('Change') },
    next: { ...revisionSchema, description: 'The `after` of the next request.' },
  }),
  Movement: describeChange(CHANGE_TYPES, movementSchemas),
  MovementPage: pageOf('movements', refer('Movement')),
};
