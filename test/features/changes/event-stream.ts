/** A client for live streams of Server-Sent Events, each over its own connection. */
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { TestContext } from 'node:test';
import { CHANGES } from '../../api/stock/stock.ts';

export interface ServerEvent {
  readonly id: number;
  /** The change in the event; undefined for an event that only moves the id. */
  readonly change: { readonly position: number; readonly type: string } | undefined;
}

export interface EventStream {
  readonly response: IncomingMessage;
  /** All events so far, and all comments as received. */
  readonly events: ServerEvent[];
  readonly comments: string[];
  /** Resolves once an event has this id or a later one; rejects if the stream ends first. */
  reach(id: number): Promise<void>;
  /** Resolves once the condition holds; rejects if the stream ends first. */
  until(holds: () => boolean): Promise<void>;
  /** Resolves once the server has ended the stream. */
  ended: Promise<void>;
  leave(): void;
}

interface KeyHolder {
  readonly key: string;
}

interface Opening {
  readonly query?: string;
  readonly headers?: OutgoingHttpHeaders;
}

/** Requests a stream, and returns its unread response. */
export async function askForEvents(
  t: Pick<TestContext, 'after'>, port: number, { key }: KeyHolder,
  { query = '', headers }: Opening = {},
): Promise<IncomingMessage> {
  const outgoing = request({
    host: '127.0.0.1', port, path: `${CHANGES}?${query}`, agent: false,
    headers: { 'x-api-key': key, accept: 'text/event-stream', ...headers },
  });
  outgoing.on('error', () => {}); // tests may break the connection
  t.after(() => outgoing.destroy());
  outgoing.end();
  const [response] = await once(outgoing, 'response') as [IncomingMessage];
  response.on('error', () => {});
  return response;
}

export async function openEvents(
  t: Pick<TestContext, 'after'>, port: number, seller: KeyHolder,
  opening: Opening = {},
): Promise<EventStream> {
  return readEvents(await askForEvents(t, port, seller, opening));
}

/** Reads a stream from its beginning. */
export function readEvents(response: IncomingMessage): EventStream {
  const events: ServerEvent[] = [];
  const comments: string[] = [];
  let rest = '';
  const take = (text: string): void => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const id = /^id: (\d+)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (id === undefined) comments.push(block);
      else events.push({ id: Number(id), change: data === undefined ? data : JSON.parse(data) });
    }
  };
  response.setEncoding('utf8').on('data', take);
  const closed = new Promise<void>((resolve) => { response.once('close', resolve); });
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      if (response.closed) throw new Error(`The stream ended after ${events.length} events.`);
      await new Promise<void>((resolve) => {
        response.once('data', () => resolve());
        void closed.then(resolve);
      });
    }
  };
  return {
    response, events, comments, until,
    reach: (id) => until(() => (events.at(-1)?.id ?? 0) >= id),
    ended: closed,
    leave: () => { response.destroy(); },
  };
}
