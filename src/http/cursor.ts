/**
 * Cursors: opaque strings that say where the next page begins. A cursor is signed together with the
 * query that it continues, so it is refused when altered and when used with another query.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { invalidQuery } from './request/query.ts';

const SIGNATURE_BYTES = 16;

/** Cursors of one store; `key` is the secret that all its processes share. */
export class Cursors {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** `query` names what is listed, for whom and how; `place` is where the next page begins. */
  format(query: string, place: string): string {
    const bytes = Buffer.from(place);
    return Buffer.concat([this.#sign(query, bytes), bytes]).toString('base64url');
  }

  /** The place in a cursor. @throws AppError `invalid_query` */
  parse(query: string, cursor: string): string {
    const bytes = Buffer.from(cursor, 'base64url');
    const signature = bytes.subarray(0, SIGNATURE_BYTES);
    const place = bytes.subarray(SIGNATURE_BYTES);
    // Buffer.from skips what is not base64url: such a cursor was altered too.
    const isWhole = signature.length === SIGNATURE_BYTES && bytes.toString('base64url') === cursor;
    if (isWhole && timingSafeEqual(signature, this.#sign(query, place))) return place.toString();
    const detail = 'Is not a cursor of this list. Take it from next_cursor, or begin without one.';
    throw invalidQuery([{ parameter: 'cursor', code: 'format', detail }]);
  }

  /** The NUL ends the query, which has none, so no other pair of them is signed alike. */
  #sign(query: string, place: Buffer): Buffer {
    const hmac = createHmac('sha256', this.#key).update(`${query}\0`).update(place);
    return hmac.digest().subarray(0, SIGNATURE_BYTES);
  }
}
