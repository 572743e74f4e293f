/** The stock plot of a product. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeFormatCache } from '../../../../src/features/portal/html/format.ts';
import { stockPlot } from '../../../../src/features/portal/products/stock-plot.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-03-01T12:00:00Z');
const format = makeFormatCache(() => 0)({
  locale: 'en-GB', timeZone: 'UTC', currency: { code: 'EUR', decimals: 2 },
});

/** Plots movements, each given as days ago and the stock after it. */
function draw(moves: readonly (readonly [daysAgo: number, stock: number])[], createdDaysAgo = 400) {
  const movements = moves.map(([daysAgo, after], index) => ({
    at: NOW - daysAgo * DAY_MS,
    movement: {
      before: moves[index - 1]?.[1] ?? 0, after,
      reason: index === 0 ? 'sold' : undefined, source: undefined, sequence: undefined,
    },
  })).reverse();
  const product = { createdAt: NOW - createdDaysAgo * DAY_MS };
  const text = stockPlot({ product, movements, now: NOW, csv: '/csv' }, format)?.text;
  const path = /<path class="line" d="([^"]*)"/.exec(text ?? '')?.[1] ?? '';
  return {
    text: text ?? '', path,
    labels: [...(text ?? '').matchAll(/<span>([^<]*)</g)].map(([, label]) => label),
    titles: [...(text ?? '').matchAll(/<title>([^<]*)</g)].map(([, title]) => title),
  };
}

test('draws nothing without movements', () => {
  assert.equal(draw([]).text, '');
});

test('draws steps from the first movement to now', () => {
  const { path, labels, text, titles } = draw([[10, 100], [5, 50], [0, 75]]);
  assert.equal(path, 'M0 0H300V100H600V50H600'); // in a frame of 600 x 200
  assert.deepEqual(labels, ['100', '75', '50', '25', '0', '19 Feb', '24 Feb', '1 Mar']);
  assert.match(text, /<a href="\/csv">Download as CSV<\/a>/);
  assert.match(text, /aria-label="Stock over time, .*: minimum 50, maximum 100, 75 at the end/);
  // The last movement is at the right edge, so it has no area to hover over.
  assert.deepEqual(titles, [
    '19 Feb, 12:00: 0 → 100 (+100), sold', '24 Feb, 12:00: 100 → 50 (-50)',
  ]);
});

test('shows the last 30 days if stock moved in them, otherwise all movements', () => {
  const recent = draw([[200, 900], [20, 10], [10, 20], [5, 10]]);
  assert.deepEqual(recent.labels.slice(-3), ['30 Jan', '14 Feb', '1 Mar']);
  assert.match(recent.path, /^M0 20H/); // starts at 900 of 1,000
  const old = draw([[300, 5], [200, 10], [10, 20]]);
  assert.deepEqual(old.labels.slice(-3), ['5 May', '2 Oct', '1 Mar']);
  assert.match(draw([[12, 5], [11, 1], [10, 2], [1, 3]], 12).path, /^M[\d.]+ [\d.]+H/);
});

test('stays within its frame for any numbers', () => {
  const moves = Array.from({ length: 200 }, (_, n) => [20 - n / 10, (n * 7_919) % 1e9] as const);
  for (const [name, drawn] of Object.entries({
    many: draw(moves), most: draw([[1, 1e9], [0, 0]]), none: draw([[1, 1], [1, 0]]),
    instant: draw([[0, 3], [0, 4]]), future: draw([[-5, 3]]),
  })) {
    assert.doesNotMatch(drawn.text, /NaN|Infinity|undefined/, name);
    for (const [, x = ''] of drawn.path.matchAll(/[MH]([\d.-]+)/g)) {
      assert.ok(Number(x) >= 0 && Number(x) <= 600, `${name}: ${x}`);
    }
    for (const [, y = ''] of drawn.path.matchAll(/(?:M[\d.]+ |V)([\d.-]+)/g)) {
      assert.ok(Number(y) >= 0 && Number(y) <= 200, `${name}: ${y}`);
    }
    assert.equal(new Set(drawn.labels.slice(0, -3)).size, drawn.labels.length - 3, name);
  }
});
