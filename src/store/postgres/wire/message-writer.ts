/**
 * Writes the client's messages (PostgreSQL manual, "Message Formats") into chunks that the socket
 * gets without a copy. A string is preceded by its length, or checked to contain no NUL, which
 * would end it; so no value can be taken for another message.
 */
const CHUNK_BYTES = 64 * 1024;
/** Longer strings are measured; shorter ones get the room that the longest encoding needs. */
const MEASURED_CHARACTERS = 512;

export class MessageWriter {
  #buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  /** Bytes before this were taken. */
  #start = 0;
  #end = 0;

  /** Bytes that were written and not taken. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** Returns what was written since the last call. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(this.#start, this.#end);
    this.#start = this.#end;
    return bytes;
  }

  /**
   * A message of a type, a letter; only the first of a connection has none. Strings end in NUL,
   * numbers are Int32, bytes are as they are.
   * @throws TypeError for a string with NUL, before anything is written
   */
  message(type: string, ...parts: readonly (string | number | Uint8Array)[]): this {
    for (const part of parts) {
      if (typeof part === 'string' && part.includes('\0')) {
        throw new TypeError('A string for PostgreSQL contains NUL.');
      }
    }
    const lengthAt = this.#begin(type);
    for (const part of parts) {
      if (typeof part === 'number') this.#int32(part);
      else this.#raw(part);
      if (typeof part === 'string') this.#byte(0);
    }
    return this.#finish(lengthAt);
  }

  /** Bind, for the unnamed portal. Strings are in text format, bytes in binary; results in text. */
  bind(statement: string, values: readonly (string | Uint8Array | null)[]): this {
    const lengthAt = this.#begin('B');
    this.#byte(0);
    this.#raw(statement);
    this.#byte(0);
    this.#int16(values.length);
    for (const value of values) this.#int16(value instanceof Uint8Array ? 1 : 0);
    this.#int16(values.length);
    for (const value of values) {
      this.#int32(-1); // the length of null
      const { length } = this;
      if (value !== null) {
        this.#raw(value);
        this.#buffer.writeInt32BE(this.length - length, this.#start + length - 4);
      }
    }
    this.#int16(0);
    return this.#finish(lengthAt);
  }

  /** Returns where the length of the message is, counted from what was not taken. */
  #begin(type: string): number {
    if (type !== '') this.#byte(type.charCodeAt(0));
    this.#int32(0);
    return this.length - 4;
  }

  #finish(lengthAt: number): this {
    this.#buffer.writeInt32BE(this.length - lengthAt, this.#start + lengthAt);
    return this;
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#end] = value;
    this.#end += 1;
  }

  #int16(value: number): void {
    this.#reserve(2);
    this.#end = this.#buffer.writeUInt16BE(value, this.#end);
  }

  #int32(value: number): void {
    this.#reserve(4);
    this.#end = this.#buffer.writeInt32BE(value, this.#end);
  }

  #raw(value: string | Uint8Array): void {
    if (typeof value !== 'string') {
      this.#reserve(value.length);
      this.#buffer.set(value, this.#end);
      this.#end += value.length;
      return;
    }
    this.#reserve(value.length < MEASURED_CHARACTERS ? value.length * 3 : Buffer.byteLength(value));
    this.#end += this.#buffer.write(value, this.#end);
  }

  /** What was taken stays where it is: the socket may not have sent it. */
  #reserve(size: number): void {
    if (this.#end + size <= this.#buffer.length) return;
    const { length } = this;
    const larger = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, 2 * (length + size)));
    this.#buffer.copy(larger, 0, this.#start, this.#end);
    [this.#buffer, this.#start, this.#end] = [larger, 0, length];
  }
}
