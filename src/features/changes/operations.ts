/** What the OpenAPI document says about the change feed and the ledger of stock movements. */
import { EVENT_STREAM_TYPE, JSON_TYPE } from '../../api/media-types.ts';
import type { Operation, Parameter } from '../../api/description/operation.ts';
import {
  cursor, format, instant, pageLimit, position, sku,
} from '../../api/description/parameters.ts';
import { refer } from '../../api/description/schema.ts';
import { stockChange, stockMovement } from '../../api/description/examples.ts';
import { describeList } from '../../api/stock/stock-operations.ts';
import { REASON_LIMIT_CODE_POINTS, SOURCE_LIMIT_CODE_POINTS } from '../../domain/limits.ts';
import {
  CHANGES_PAGE_SIZE_DEFAULT, CHANGES_PAGE_SIZE_LIMIT, CHANGES_WAIT_LIMIT_SECONDS,
} from './limits.ts';
import { changeTypeList } from './history-schemas.ts';

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
    name: 'sku', example: 'MUG-1', schema: sku,
    description: 'Of the product that has this SKU, and of those that had it when they were '
      + 'deleted; what they were called before does not count.',
  },
  {
    name: 'id', description: 'Of the product with this id.', schema: { type: 'string' },
    example: 'prd_1k7s94cm9001k7s94bi600',
  },
  {
    name: 'source', description: 'From this system.', example: 'erp',
    schema: { type: 'string', minLength: 1, maxLength: SOURCE_LIMIT_CODE_POINTS },
  },
  {
    name: 'reason', description: 'For this reason.', example: 'sold',
    schema: { type: 'string', minLength: 1, maxLength: REASON_LIMIT_CODE_POINTS },
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
