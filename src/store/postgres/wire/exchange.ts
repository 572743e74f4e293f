/**
 * What the client sends in one piece, and the messages that answer it, up to ReadyForQuery. A
 * connection has several exchanges in flight; they are answered in order.
 */
import { type PostgresError, unexpectedMessage } from './errors.ts';
import type { MessageWriter } from './message-writer.ts';
import type { PreparedStatements } from './prepared-statements.ts';

/** Messages that may come in place of another: NoData, EmptyQueryResponse. */
const INSTEAD: Readonly<Record<string, string>> = { T: 'n', C: 'I' };

export abstract class Exchange<Result = unknown> {
  /** Whether what follows is sent only after this was answered. */
  readonly isBarrier: boolean;
  /** The first error. */
  error: Error | undefined;
  isSettled = false;
  /** Runs while the server has to answer. */
  timer: NodeJS.Timeout | undefined;
  /** By `performance.now()`. */
  sentAt = 0;
  readonly #answer = Promise.withResolvers<unknown>();
  /**
   * Types of the messages that answer it. Any number of `D` and `d` may come. `Z` ends each part,
   * which an error cuts short.
   */
  #expected = '';
  #at = 0;
  #isSkipping = false;

  constructor(isBarrier: boolean) {
    this.isBarrier = isBarrier;
  }

  get answer(): Promise<Result> {
    // The cast: it resolves with what `readResult` returns, and with nothing else.
    return this.#answer.promise as Promise<Result>;
  }

  /** `prepared` is undefined behind a transaction pooler. @throws TypeError, and writes nothing */
  abstract write(writer: MessageWriter, prepared: PreparedStatements | undefined): void;

  /** Takes an expected message, whose body is a part of the buffer. */
  protected abstract take(type: string, buffer: Buffer, start: number, end: number): void;

  protected abstract readResult(): Result;

  protected expect(types: string): void {
    this.#expected = types;
    this.#at = 0;
  }

  /** @throws ProtocolError for any but an expected message. */
  receive(type: string, buffer: Buffer, start: number, end: number): void {
    let expected = this.#expected.charAt(this.#at);
    const isRepeated = type === 'D' || type === 'd';
    if (!isRepeated && (expected === 'D' || expected === 'd')) {
      this.#at += 1;
      expected = this.#expected.charAt(this.#at);
    }
    if (this.#isSkipping || (type !== expected && type !== INSTEAD[expected])) {
      throw unexpectedMessage(type);
    }
    if (!isRepeated) this.#at += 1;
    this.take(type, buffer, start, end);
  }

  /** Takes an error, after which the server skips the rest of the part. */
  fail(error?: PostgresError): void {
    this.#isSkipping = true;
    this.error ??= error;
  }

  /** Takes ReadyForQuery. Returns whether everything was answered. */
  endPart(): boolean {
    if (!this.#isSkipping && this.#expected[this.#at] !== 'Z') throw unexpectedMessage('Z');
    this.#isSkipping = false;
    this.#at = this.#expected.indexOf('Z', this.#at) + 1;
    return this.#at === this.#expected.length;
  }

  /** Ends it: the answer is the error, or else the result. */
  settle(error?: Error): void {
    this.error ??= error;
    if (this.error === undefined) this.#answer.resolve(this.readResult());
    else this.#answer.reject(this.error);
    this.isSettled = true;
    clearTimeout(this.timer);
  }
}
