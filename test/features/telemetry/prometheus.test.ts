/** The Prometheus text format: metrics survive a round trip through the parser of these tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeHistogram } from '../../../src/runtime/histogram.ts';
import { formatFamilies, histogram } from '../../../src/features/telemetry/prometheus.ts';
import { counter, gauge } from '../../../src/runtime/metric-family.ts';
import { parseMetrics } from './prometheus-text.ts';

test('writes families with help, type and a line for each sample', () => {
  const durations = makeHistogram([0.5, 1]);
  for (const value of [0.25, 0.5, 3]) durations.add(value);
  const text = formatFamilies([
    counter('a_total', 'How many.', 12),
    { name: 'b', type: 'gauge', help: 'Nothing.', samples: [] },
    histogram('c', 'How long.', { labels: { route: '/a/{id}' }, ...durations.read() }),
  ]);
  assert.equal(text, [
    '# HELP a_total How many.', '# TYPE a_total counter', 'a_total 12',
    '# HELP c How long.', '# TYPE c histogram',
    'c_bucket{route="/a/{id}",le="0.5"} 2', 'c_bucket{route="/a/{id}",le="1"} 2',
    'c_bucket{route="/a/{id}",le="+Inf"} 3',
    'c_sum{route="/a/{id}"} 3.75', 'c_count{route="/a/{id}"} 3', '',
  ].join('\n'));
  assert.deepEqual([...parseMetrics(text).keys()], ['a_total', 'c']);
});

test('escapes newlines, quotes and backslashes in help texts and labels', () => {
  const labels = { one: 'a "b"\\\nc', two: 'd,e="f"} 1' };
  const text = formatFamilies([
    { name: 'a', type: 'gauge', help: 'back\\slash\nnext line', samples: [{ labels, value: 1 }] },
  ]);
  const family = parseMetrics(text).get('a');
  assert.equal(family?.help, 'back\\\\slash\\nnext line');
  assert.deepEqual(family.series, [{ name: 'a', labels, value: 1 }]);
});

test('writes numbers in the format that Prometheus parses', () => {
  const values = [0, -1.5, 1e21, 1e-7, 2 ** 53, Infinity];
  const text = formatFamilies(values.map((value, at) => gauge(`g${at}`, 'x', value)));
  const read = [...parseMetrics(text).values()].map(({ series: [one] }) => one?.value);
  assert.deepEqual(read, values);
});

const broken: readonly [what: string, text: string][] = [
  ['no newline after the last line', '# HELP a x\n# TYPE a gauge\na 1'],
  ['no type', 'a 1\n'],
  ['a duplicate series', '# HELP a x\n# TYPE a gauge\na{b="c"} 1\na{b="c"} 2\n'],
  ['a quote in a label', '# HELP a x\n# TYPE a gauge\na{b="c"d"} 1\n'],
  ['bucket counts that decrease', '# HELP a x\n# TYPE a histogram\n'
    + 'a_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n'],
  ['no +Inf bucket', '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_sum 1\na_count 2\n'],
];

for (const [what, text] of broken) {
  test(`the parser of these tests rejects ${what}`, () => {
    assert.throws(() => parseMetrics(text), { name: 'AssertionError' });
  });
}
