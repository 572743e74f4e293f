/** The stock plot of a product. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Formats } from '../../../../src/features/portal/html/format.ts';
import { stockPlot } from '../../../../src/features/portal/products/stock-plot.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-03-01T12:00:00Z');
const format = new Formats(() => 0).get({
  locale: 'en-GB', timeZone: 'UTC', currency: { code: 'EUR', decimals: 2 },
});

/** Draws movements, given as days ago and the stock since then. */
function draw(moves: readonly (readonly [daysAgo: number, stock: number])[], createdDaysAgo = 400) {
  const movements = moves.map(([daysAgo, after], index) => ({
    at: NOW - daysAgo * DAY_MS,
    movement: {
      before: moves[index - 1]?.[1] ?? 0, after,
      reason: undefined, source: undefined, sequence: undefined,
    },
  })).reverse();
  const product = { createdAt: NOW - createdDaysAgo * DAY_MS };
  const text = stockPlot({ product, movements, now: NOW }, format)?.text;
  const path = /<path class="line" d="([^"]*)"/.exec(text ?? '')?.[1] ?? '';
  return {
    text: text ?? '', path,
    labels: [...(text ?? '').matchAll(/<text[^>]*>([^<]*)</g)].map(([, label]) => label),
  };
}

test('draws nothing without movements', () => {
  assert.equal(draw([]).text, '');
});

test('draws steps from the first movement to now', () => {
  const { path, labels, text } = draw([[10, 100], [5, 50], [0, 75]]);
  // 100 is at the top, 12 below the edge, and 0 at 164; the numbers on the left take 35.
  assert.equal(path, 'M35 12H211.5V88H388V50H388');
  assert.deepEqual(labels, ['0', '25', '50', '75', '100', '19 Feb', '24 Feb', '1 Mar']);
  assert.match(text, /<title id="plot-title">.*minimum 50,\s+maximum 100,\s+75 at the end/s);
});

test('shows the last 30 days if stock moved in them, otherwise all movements', () => {
  const recent = draw([[200, 900], [20, 10], [10, 20], [5, 10]]);
  assert.deepEqual(recent.labels.slice(-3), ['30 Jan', '14 Feb', '1 Mar']);
  assert.match(recent.path, /^M[\d.]+ 27\.2H/); // 900 of 1,000, before all of them
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
      assert.ok(Number(x) >= 8 && Number(x) <= 388, `${name}: ${x}`);
    }
    for (const [, y = ''] of drawn.path.matchAll(/(?:M[\d.]+ |V)([\d.-]+)/g)) {
      assert.ok(Number(y) >= 12 && Number(y) <= 164, `${name}: ${y}`);
    }
    assert.equal(new Set(drawn.labels.slice(0, -3)).size, drawn.labels.length - 3, name);
  }
});
