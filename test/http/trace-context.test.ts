/** `traceparent`: which traces are continued, and which ids are generated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Spans } from '../../src/http/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

test('continues a trace with a new span', () => {
  const span = new Spans().start(`00-${TRACE}-${PARENT}-01`);
  assert.equal(span.traceId, TRACE);
  assert.equal(span.parentSpanId, PARENT);
  assert.match(span.spanId, /^[0-9a-f]{16}$/);
  assert.notEqual(span.spanId, PARENT);
});

test('starts a trace without a header, with unique ids', () => {
  const spans = new Spans();
  const seen = new Set<string>();
  for (let n = 0; n < 1_000; n += 1) {
    const { traceId, spanId, parentSpanId } = spans.start(undefined);
    assert.match(traceId, /^[0-9a-f]{32}$/);
    assert.match(spanId, /^[0-9a-f]{16}$/);
    assert.equal(parentSpanId, undefined);
    seen.add(traceId).add(spanId);
  }
  assert.equal(seen.size, 2_000);
});

const continued: readonly [what: string, header: string][] = [
  ['without the sampled flag', `00-${TRACE}-${PARENT}-00`],
  ['with undefined flags', `00-${TRACE}-${PARENT}-ff`],
  ['of a later version', `01-${TRACE}-${PARENT}-01`],
  ['of a later version with more fields', `cc-${TRACE}-${PARENT}-01-what-the-future-is`],
];

for (const [what, header] of continued) {
  test(`reads a header ${what}`, () => {
    const { traceId, parentSpanId } = new Spans().start(header);
    assert.deepEqual([traceId, parentSpanId], [TRACE, PARENT]);
  });
}

const ignored: readonly [what: string, header: string | string[] | undefined][] = [
  ['that is missing', undefined],
  ['that is empty', ''],
  ['that is sent twice', `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
  ['that is a list', [`00-${TRACE}-${PARENT}-01`]],
  ['of version ff', `ff-${TRACE}-${PARENT}-01`],
  ['of this version with more fields', `00-${TRACE}-${PARENT}-01-more`],
  ['of a later version with longer flags', `01-${TRACE}-${PARENT}-011`],
  ['in capitals', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
  ['whose trace id is zero', `00-${'0'.repeat(32)}-${PARENT}-01`],
  ['whose span id is zero', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['that is too short', `00-${TRACE.slice(1)}-${PARENT}-01`],
  ['without flags', `00-${TRACE}-${PARENT}`],
  ['with a space before it', ` 00-${TRACE}-${PARENT}-01`],
  ['with a line break after it', `00-${TRACE}-${PARENT}-01\n`],
];

for (const [what, header] of ignored) {
  test(`ignores a header ${what}`, () => {
    const { traceId, parentSpanId } = new Spans().start(header);
    assert.equal(parentSpanId, undefined);
    assert.notEqual(traceId, TRACE);
  });
}
