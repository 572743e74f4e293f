/**
 * The change feed: what happened after a position, in order and without gaps. Live, it follows the
 * stream of Server-Sent Events (WHATWG HTML section 9.2) and, whenever that ends, continues after
 * the last change.
 */
import { retryDelayMs } from '../runtime/backoff.ts';
import { ApiError, ConnectionError, parseObject } from './errors.ts';
import { readLines } from './lines.ts';
import {
  BOOLEAN, FUNCTION, type OptionTable, POSITION, READ_OPTIONS, readCall, type ReadOptions, SENT,
} from './options.ts';
import type { Position } from './product.ts';
import {
  markPositions, parsePosition, type Query, readItems, type Sender, sendForJson,
} from './sender.ts';
import { wait } from './transport.ts';
import type { Change, ChangeType } from './types.ts';

/** Which changes to read, and whether to follow new ones. */
export interface ChangesOptions extends ReadOptions {
  /** Start after this position: that of an export, or of the last change you processed. */
  readonly after: Position;
  /** Only changes of these types. Default: all. */
  readonly types?: readonly ChangeType[] | undefined;
  /** Only changes of the import with this id. */
  readonly import?: string | undefined;
  /** Whether to wait for more changes. Default false: ends when there are no more. */
  readonly live?: boolean | undefined;
  /** Called with each position up to which there is nothing more that matches. */
  readonly onPosition?: ((position: Position) => void) | undefined;
}

const OPTIONS: OptionTable<ChangesOptions> = {
  ...READ_OPTIONS, after: POSITION, types: SENT, import: SENT, live: BOOLEAN, onPosition: FUNCTION,
};

const CHANGES = '/api/v1/changes';
const PAGE_SIZE = 1_000;
/** A stream ends regularly: the first delay is short. */
const RECONNECT = { firstMs: 100, limitMs: 30_000 };

/** @throws ResyncRequiredError if the history no longer reaches back to `after` */
export function readChanges(
  sender: Sender, options: ChangesOptions,
): AsyncGenerator<Change, void, void> {
  const [request, query] = readCall('changes', [], options, OPTIONS);
  return (options.live ? followStream : readPages)(sender, options, request, query);
}

async function* readPages(
  sender: Sender, { after, onPosition }: ChangesOptions, request: ReadOptions, query: Query,
): AsyncGenerator<Change, void, void> {
  for (;;) {
    const { changes, next } = await sendForJson<{ changes: unknown; next: Position }>(sender, {
      ...request, method: 'GET', path: CHANGES, query: { ...query, after, limit: PAGE_SIZE },
    });
    yield* readItems<Change>(changes);
    if (next === after) return;
    onPosition?.(next);
    after = next;
  }
}

async function* followStream(
  sender: Sender, { after, signal, onPosition }: ChangesOptions, request: ReadOptions,
  query: Query,
): AsyncGenerator<Change, void, void> {
  for (let failures = 0; ; failures += 1) {
    try {
      const events = await sender.send({
        ...request, method: 'GET', path: CHANGES, query: { ...query, after },
        headers: { accept: 'text/event-stream' },
      }, async (response) => parseEvents(readLines(response.chunks())));
      for await (const { id, data } of events) {
        failures = 0;
        after = parsePosition(id) ?? after;
        // The cast: as in `readJson`.
        if (data !== '') yield markPositions(parseObject(data), id) as unknown as Change;
        else onPosition?.(after);
      }
    } catch (error) {
      signal?.throwIfAborted();
      // The transport has retried what was temporary before the stream started.
      if (error instanceof ApiError || !(error instanceof ConnectionError)) throw error;
    }
    await wait(retryDelayMs(RECONNECT, failures, { random: Math.random() }), signal);
  }
}

/** Events that have an id: the others carry no position. */
async function* parseEvents(
  lines: AsyncIterable<string>,
): AsyncGenerator<{ readonly id: string; readonly data: string }, void, void> {
  let id = '';
  let data = '';
  for await (const line of lines) {
    if (line.startsWith('id: ')) id = line.slice('id: '.length);
    else if (line.startsWith('data: ')) data += line.slice('data: '.length);
    else if (line === '') {
      if (id !== '') yield { id, data };
      [id, data] = ['', ''];
    }
  }
}
