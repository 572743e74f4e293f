/** What the OpenAPI document says of the feed of changes. */
import { EVENT_STREAM_TYPE, JSON_TYPE } from '../../api/media-types.ts';
import type { Operation } from '../../api/description/operation.ts';
import { refer } from '../../api/description/schema.ts';
import { stockChange } from '../../api/description/examples.ts';

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
