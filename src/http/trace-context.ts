/**
 * The trace that a request is a part of, by its header `traceparent` (W3C Trace Context Level 1,
 * sections 3.2 and 4.3). One that is malformed is no reason to refuse a request: a trace begins
 * here then. `tracestate` and flags are for those who pass a trace on, which this server does not.
 */
import { randomFillSync } from 'node:crypto';

/** The part of a trace that one request is; ids in lower-case hexadecimal digits. */
export interface Span {
  /** 32 digits: of the whole trace. */
  readonly traceId: string;
  /** 16 digits: of this request. */
  readonly spanId: string;
  /** Of whoever asked; undefined where the trace begins here. */
  readonly parentSpanId: string | undefined;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const NOTHING = /^0+$/;
const POOL_BYTES = 4_096;

/** Gives requests their spans. */
export class Spans {
  /** Random bytes are cheap by the thousand, and dear by the eight. */
  readonly #pool = Buffer.allocUnsafeSlow(POOL_BYTES);
  #used = POOL_BYTES;

  /** Continues the trace of this header, or begins one. */
  begin(traceparent: string | readonly string[] | undefined): Span {
    const { traceId, parentSpanId } = parseTraceparent(traceparent) ?? {};
    return { traceId: traceId ?? this.#take(16), spanId: this.#take(8), parentSpanId };
  }

  /** Zeroes alone, which are no id, come once in 2^64 times. */
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

/** The trace that a header names, with the span of its sender; undefined where it names none. */
function parseTraceparent(
  header: string | readonly string[] | undefined,
): { readonly traceId: string; readonly parentSpanId: string } | undefined {
  // Node joins a header that comes twice by a comma, which is not of this form.
  if (typeof header !== 'string') return undefined;
  const [, version, traceId = '', parentSpanId = '', rest] = TRACEPARENT.exec(header) ?? [];
  // Later versions may have more after these; this one may not, and there will be no version ff.
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  if (NOTHING.test(traceId) || NOTHING.test(parentSpanId)) return undefined;
  return { traceId, parentSpanId };
}
