/**
 * The trace of a request, from its `traceparent` header (W3C Trace Context Level 1, sections 3.2
 * and 4.3). A malformed header starts a new trace instead of failing the request. `tracestate` and
 * flags are ignored, because this server does not propagate traces.
 */
import { randomFillSync } from 'node:crypto';

/** One request in a trace; ids are lower-case hexadecimal. */
export interface Span {
  /** 32 digits. */
  readonly traceId: string;
  /** 16 digits. */
  readonly spanId: string;
  /** Undefined if the trace starts here. */
  readonly parentSpanId: string | undefined;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const NOTHING = /^0+$/;
const POOL_BYTES = 4_096;

export class Spans {
  /** Generating random bytes is cheap by the thousand and expensive by eight. */
  readonly #pool = Buffer.allocUnsafeSlow(POOL_BYTES);
  #used = POOL_BYTES;

  /** Continues the trace of this header, or starts a new one. */
  start(traceparent: string | readonly string[] | undefined): Span {
    const { traceId, parentSpanId } = parseTraceparent(traceparent) ?? {};
    return { traceId: traceId ?? this.#take(16), spanId: this.#take(8), parentSpanId };
  }

  /** The chance of all zeros, an invalid id, is 2^-64. */
  #take(bytes: number): string {
    if (this.#used + bytes > POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += bytes;
    return this.#pool.toString('hex', start, this.#used);
  }
}

/** The trace and the sender's span in a header; undefined if it is missing or malformed. */
function parseTraceparent(
  header: string | readonly string[] | undefined,
): { readonly traceId: string; readonly parentSpanId: string } | undefined {
  // Node joins a repeated header with a comma, which does not match.
  if (typeof header !== 'string') return undefined;
  const [, version, traceId = '', parentSpanId = '', extension] = TRACEPARENT.exec(header) ?? [];
  // Later versions may append fields, version 00 may not, and version ff is invalid.
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && extension !== undefined) return undefined;
  if (NOTHING.test(traceId) || NOTHING.test(parentSpanId)) return undefined;
  return { traceId, parentSpanId };
}
