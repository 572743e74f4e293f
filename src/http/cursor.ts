/**
 * Cursors: opaque strings that say where the next page of a list begins. All lists use this format:
 * an anchor as JSON, signed together with the scope of its list, so a cursor is rejected if altered
 * or used with another query. In a restored catalogue the generation and a dot precede it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Generation, restored } from '../domain/revision.ts';
import { invalidQuery } from './request/query.ts';

const SIGNATURE_BYTES = 16;
const CURSOR = /^([a-z2-7]{5}\.)?([\w-]+)$/;

export type Cursors = ReturnType<typeof makeCursors>;

/** The cursors of one store. Its processes share the key. */
export function makeCursors(key: Uint8Array, generation?: Generation) {
  /** Precedes each cursor, and is signed with it: the generation and a dot, or empty. */
  const ownMark = generation === undefined ? '' : `${generation}.`;

  /** The NUL separates scope and anchor, so no two pairs produce the same signed text. */
  function sign(scope: string, anchor: Buffer): Buffer {
    const hmac = createHmac('sha256', key).update(`${scope}\0`).update(anchor);
    return hmac.digest().subarray(0, SIGNATURE_BYTES);
  }

  return {
    /**
     * The scope says what is listed, for whom and in which order; the anchor says where the next
     * page begins. Undefined without an anchor: there is no next page.
     */
    format(scope: string, anchor: object | number | undefined): string | undefined {
      if (anchor === undefined) return undefined;
      const bytes = Buffer.from(JSON.stringify(anchor));
      const signature = sign(ownMark + scope, bytes);
      return ownMark + Buffer.concat([signature, bytes]).toString('base64url');
    },
    /**
     * The anchor in a cursor, if there is one.
     * @throws AppError `invalid_query`; `history_pruned` for one that an earlier generation signed
     */
    parse<Anchor>(scope: string, cursor: string | undefined): Anchor | undefined {
      if (cursor === undefined) return undefined;
      const [, mark = '', text = ''] = CURSOR.exec(cursor) ?? [];
      const bytes = Buffer.from(text, 'base64url');
      const signature = bytes.subarray(0, SIGNATURE_BYTES);
      const anchor = bytes.subarray(SIGNATURE_BYTES);
      // Buffer.from skips characters that are not base64url, but such a cursor was altered too.
      const isWhole = signature.length === SIGNATURE_BYTES && bytes.toString('base64url') === text;
      if (isWhole && timingSafeEqual(signature, sign(mark + scope, anchor))) {
        if (mark !== ownMark) throw restored();
        return JSON.parse(anchor.toString()) as Anchor; // signed for this scope, so of its type
      }
      const detail = 'Is not a cursor of this list. Use next_cursor, or start without a cursor.';
      throw invalidQuery([{ parameter: 'cursor', code: 'format', detail }]);
    },
  };
}
