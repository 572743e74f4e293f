/**
 * Splits the bytes of a server into messages: a type, a length of four bytes that counts itself,
 * and a body (PostgreSQL manual, "Message Formats"). Bytes may arrive split anywhere. A message
 * above the limit is rejected before it is buffered.
 */
import { ProtocolError } from './errors.ts';
import { POSTGRES_MESSAGE_LIMIT_BYTES } from './limits.ts';

const HEADER_BYTES = 5;

/** `type` is a letter. The body is a part of the buffer, whose bytes are never overwritten. */
type ReceiveMessage = (type: string, buffer: Buffer, start: number, end: number) => void;

export class MessageReader {
  readonly #receive: ReceiveMessage;
  #parts: Buffer[] = [];
  #length = 0;
  /** How many bytes the next message needs, as far as is known. */
  #needed = HEADER_BYTES;

  constructor(receive: ReceiveMessage) {
    this.#receive = receive;
  }

  /** Whether all bytes belonged to messages that are complete. */
  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** @throws ProtocolError for an impossible length, and what `receive` throws. */
  push(chunk: Buffer): void {
    this.#length += chunk.length;
    this.#parts.push(chunk);
    if (this.#length < this.#needed) return;
    const buffer = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#length);
    let at = 0;
    this.#needed = HEADER_BYTES;
    while (buffer.length - at >= HEADER_BYTES) {
      const length = buffer.readInt32BE(at + 1);
      if (length < 4 || length > POSTGRES_MESSAGE_LIMIT_BYTES) {
        throw new ProtocolError(`The server announced a message of ${length} bytes.`);
      }
      const end = at + 1 + length;
      this.#needed = end - at;
      if (end > buffer.length) break;
      this.#receive(String.fromCharCode(buffer[at] ?? 0), buffer, at + HEADER_BYTES, end);
      this.#needed = HEADER_BYTES;
      at = end;
    }
    this.#length = buffer.length - at;
    this.#parts = this.#length === 0 ? [] : [buffer.subarray(at)];
  }
}
