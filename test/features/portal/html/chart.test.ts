/** Charts: axes, marks, and their text alternatives. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barChart, findTicks, lineChart } from '../../../../src/features/portal/html/chart.ts';

const number = (value: number): string => String(value);

test('divides an axis in round steps up to the maximum', () => {
  assert.deepEqual(findTicks(0), [0, 1]);
  assert.deepEqual(findTicks(3), [0, 1, 2, 3]);
  assert.deepEqual(findTicks(97), [0, 25, 50, 75, 100]);
  assert.deepEqual(findTicks(101), [0, 50, 100, 150]);
  for (let most = 1; most < 1e16; most = Math.ceil(most * 1.7)) {
    const ticks = findTicks(most);
    assert.ok(ticks.length >= 2 && ticks.length <= 6, `${most}: ${ticks.length}`);
    assert.ok((ticks.at(-1) ?? 0) >= most && (ticks.at(-2) ?? 0) < most, String(most));
    assert.ok(ticks.every(Number.isInteger), String(most));
  }
});

test('draws two series around one axis, with a table of the same values', () => {
  const bars = [{ label: 'Mon', up: 30, down: 0 }, { label: 'Tue', up: 0, down: 10 }];
  const { text } = barChart({
    title: 'Moves', unit: 'Day', names: { up: 'In', down: 'Out' }, bars, number, csv: '/a.csv',
  });
  assert.match(text, /role="img" aria-label="Moves: In 30, Out 10"/);
  const labels = [...text.matchAll(/<span>(\w+)<\/span>/g)].map(([, label]) => label);
  assert.deepEqual(labels, ['30', '20', '10', '0', '10', 'Mon', 'Tue']);
  assert.match(text, /<rect class="in" x="0" y="0" width="240" height="150"\/>/);
  assert.match(text, /<rect class="out" x="300" y="150" width="240" height="50"\/>/);
  assert.match(text, /<details><summary>View as table<\/summary>/);
  assert.match(text, /<a href="\/a\.csv">Download as CSV<\/a>/);
  const none = barChart({
    title: 'Moves', unit: 'Day', names: { up: 'In', down: 'Out' }, number, csv: '/a.csv',
    bars: bars.map(({ label }) => ({ label, up: 0, down: 0 })),
  });
  assert.match(none.text, /No activity in this period/);
});

test('draws a line from zero, and describes it', () => {
  const points = [4, 8, 6].map((value, n) => ({ label: `day ${n + 1}`, value }));
  const { text } = lineChart({ title: 'Units', points, describe: number, compact: number });
  assert.match(text, /aria-label="Units: 4 on day 1, 6 on day 3, minimum 4, maximum 8"/);
  assert.match(text, /<path class="line" d="M100 100L300 0L500 50"\/>/);
  assert.match(text, /<title>day 2: 8<\/title>/);
  const [none] = [lineChart({ title: 'Units', points: [], describe: number, compact: number })];
  assert.match(none?.text ?? '', /history of this period was removed/);
});
