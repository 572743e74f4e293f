/**
 * Bulk copies: `COPY table FROM STDIN` and `COPY ... TO STDOUT` (PostgreSQL manual, "COPY
 * Operations"). The faster side waits, so a copy of any size needs little memory. The data is in
 * the format that the statement names.
 */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Connection } from './connection.ts';
import { Exchange } from './exchange.ts';
import { MessageWriter } from './message-writer.ts';

/**
 * Copies into a table; resolves with the number of rows once all were written. If the source fails,
 * or the server rejects a row, none is.
 */
export async function copyIn(
  connection: Connection, text: string, source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<number> {
  const { socket } = connection.session;
  const writer = new MessageWriter();
  const started = Promise.withResolvers<void>();
  const copy = new Copy(text, 'GCZ', () => started.resolve());
  const answer = connection.execute(copy);
  /** Nothing else is sent until the copy has ended. */
  const send = async (type: string, ...parts: readonly (string | Uint8Array)[]): Promise<void> => {
    if (copy.error !== undefined) return;
    connection.extend(copy);
    const isFlushed = socket.write(writer.message(type, ...parts).take());
    if (!isFlushed) await Promise.race([once(socket, 'drain'), answer]);
    if (type === 'd') clearTimeout(copy.timer); // the source may take its time
  };
  await Promise.race([started.promise, answer]);
  clearTimeout(copy.timer);
  try {
    for await (const chunk of source) {
      if (copy.error !== undefined) break;
      await send('d', chunk);
    }
  } catch (error) {
    await send('f', 'the source failed');
    await answer.catch(() => {});
    throw error;
  }
  await send('c');
  return answer;
}

/** The data of a copy, in chunks of whole rows. Destroying the stream cancels the copy. */
export function copyOut(connection: Connection, text: string): Readable {
  const { socket } = connection.session;
  const proceed = (): void => {
    connection.extend(copy);
    socket.resume();
  };
  const stream = new Readable({
    read: proceed,
    destroy(error, callback) {
      proceed();
      if (!copy.isSettled) connection.cancel().catch(() => {}); // then it runs to its end
      callback(error);
    },
  });
  const copy: Copy = new Copy(text, 'HdcCZ', (type, chunk) => {
    if (type !== 'd' || stream.destroyed || stream.push(chunk)) return;
    socket.pause();
    clearTimeout(copy.timer); // the consumer may take its time
  });
  connection.execute(copy)
    .then(() => stream.push(null), (error: Error) => stream.destroy(error));
  return stream;
}

class Copy extends Exchange<number> {
  readonly #text: string;
  readonly #expected: string;
  readonly #onMessage: (type: string, body: Buffer) => void;
  #count = 0;

  /** Expects CopyInResponse; or CopyOutResponse, data and CopyDone. Then CommandComplete. */
  constructor(
    text: string, expected: 'GCZ' | 'HdcCZ', onMessage: (type: string, body: Buffer) => void,
  ) {
    super(true);
    this.#text = text;
    this.#expected = expected;
    this.#onMessage = onMessage;
  }

  override write(writer: MessageWriter): void {
    writer.message('Q', this.#text);
    this.expect(this.#expected);
  }

  protected override take(type: string, buffer: Buffer, start: number, end: number): void {
    if (type !== 'C') this.#onMessage(type, buffer.subarray(start, end));
    else this.#count = Number(buffer.toString('latin1', start, end - 1).split(' ')[1]);
  }

  protected override readResult(): number {
    return this.#count;
  }
}
