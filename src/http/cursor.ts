/**
 * Cursors: opaque strings that say where the next page of a list begins. All lists use this format:
 * an anchor as JSON, signed together with the scope of its list, so a cursor is rejected if altered
 * or used with another query.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { invalidQuery } from './request/query.ts';

const SIGNATURE_BYTES = 16;

/** The cursors of one store. Its processes share the key. */
export class Cursors {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /**
   * The scope says what is listed, for whom and in which order; the anchor says where the next page
   * begins. Undefined without an anchor: there is no next page.
   */
  format(scope: string, anchor: object | number | undefined): string | undefined {
    if (anchor === undefined) return undefined;
    const bytes = Buffer.from(JSON.stringify(anchor));
    return Buffer.concat([this.#sign(scope, bytes), bytes]).toString('base64url');
  }

  /** The anchor in a cursor, if there is one. @throws AppError `invalid_query` */
  parse<Anchor>(scope: string, cursor: string | undefined): Anchor | undefined {
    if (cursor === undefined) return undefined;
    const bytes = Buffer.from(cursor, 'base64url');
    const signature = bytes.subarray(0, SIGNATURE_BYTES);
    const anchor = bytes.subarray(SIGNATURE_BYTES);
    // Buffer.from skips characters that are not base64url, but such a cursor was altered too.
    const isWhole = signature.length === SIGNATURE_BYTES && bytes.toString('base64url') === cursor;
    if (isWhole && timingSafeEqual(signature, this.#sign(scope, anchor))) {
      return JSON.parse(anchor.toString()) as Anchor; // signed for this scope, so of its type
    }
    const detail = 'Is not a cursor of this list. Use next_cursor, or start without a cursor.';
    throw invalidQuery([{ parameter: 'cursor', code: 'format', detail }]);
  }

  /** The NUL separates scope and anchor, so no two pairs produce the same signed text. */
  #sign(scope: string, anchor: Buffer): Buffer {
    const hmac = createHmac('sha256', this.#key).update(`${scope}\0`).update(anchor);
    return hmac.digest().subarray(0, SIGNATURE_BYTES);
  }
}
