/** Progress lines: their content, their width, and how often they are written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Progress } from '../../src/cli/progress.ts';
import { formatBar, formatParts } from '../../src/cli/format.ts';
import { makeClock } from '../support/clock.ts';

const HALF = { rows: 123_456, bytes: 50, sizeBytes: 100, rejected: 12, elapsedMs: 2_000 };
const FULL_TEXT = '50 %  123,456 rows  12 rejected  61,728 rows/s  0:02 left';

test('shows what is done and what remains', () => {
  assert.equal(formatParts(HALF).join('  '), FULL_TEXT);
});

test('shows the remaining time in minutes and hours', () => {
  const left = (elapsedMs: number) => formatParts({ ...HALF, elapsedMs }).at(-1);
  assert.equal(left(59_000), '0:59 left');
  assert.equal(left(61_000), '1:01 left');
  assert.equal(left(3_599_100), '1:00:00 left');
  assert.equal(left(36_000_000 + 125_000), '10:02:05 left');
});

test('shows neither percentage nor time left if the size is unknown', () => {
  const parts = formatParts({ rows: 5, bytes: 3 * 2 ** 20, elapsedMs: 1_000 });
  assert.deepEqual(parts, ['3.0 MiB', '5 rows', '5 rows/s']);
});

test('counts bytes if there are no rows', () => {
  const parts = formatParts({ bytes: 3 * 2 ** 20, sizeBytes: 6 * 2 ** 20, elapsedMs: 2_000 });
  assert.deepEqual(parts, ['50 %', '1.5 MiB/s', '0:02 left']);
});

test('shows no remaining time at the start, at the end, and for an empty file', () => {
  const ofState = (state: Partial<typeof HALF>) => formatParts({ ...HALF, ...state }).join();
  assert.equal(ofState({ rows: 0, bytes: 0, elapsedMs: 0 }), '0 %,0 rows,12 rejected,0 rows/s');
  assert.match(ofState({ bytes: 100 }), /^100 %.*rows\/s$/);
  assert.match(ofState({ bytes: 120 }), /^100 %.*rows\/s$/); // the file has grown since
  assert.match(ofState({ bytes: 0, sizeBytes: 0 }), /^100 %.*rows\/s$/);
});

test('fills the line with a bar, up to a maximum width', () => {
  const columns = FULL_TEXT.length + 4 + 20 + 1;
  assert.equal(formatBar(HALF, columns), `[${'#'.repeat(10)}${'-'.repeat(10)}]  ${FULL_TEXT}`);
  assert.equal(formatBar(HALF, 500), `[${'#'.repeat(20)}${'-'.repeat(20)}]  ${FULL_TEXT}`);
  assert.equal(formatBar({ ...HALF, bytes: 100 }, 500).indexOf('-'), -1);
});

test('draws no bar if it does not fit, or the size is unknown', () => {
  assert.equal(formatBar(HALF, FULL_TEXT.length + 5), FULL_TEXT);
  assert.doesNotMatch(formatBar({ rows: 1, bytes: 1, elapsedMs: 1 }, 500), /\[/);
});

test('fits any terminal, and drops the least important parts first', () => {
  for (let columns = 0; columns < 150; columns += 1) {
    const line = formatBar(HALF, columns);
    assert.ok(line.length <= Math.max(0, columns - 1), `${columns}: ${line}`);
    assert.ok(columns < 5 || line.includes('50 %'), `${columns}: ${line}`);
  }
  assert.equal(formatBar(HALF, 35), '50 %  123,456 rows  12 rejected');
});

test('overwrites one line on a terminal, at most ten times a second', () => {
  const { written, progress, clock } = watch({ isTTY: true, columns: 60 });
  for (let n = 0; n < 1_000; n += 1) {
    clock.now += 1;
    progress.show(HALF);
  }
  assert.equal(written.length, 10);
  progress.end({ ...HALF, bytes: 100 });
  assert.equal(written.length, 12);
  for (const text of written.slice(0, -1)) assert.match(text, /^\r[^\n\r]+\x1b\[K$/);
  assert.match(written.at(-2) ?? '', /100 %/);
  assert.equal(written.at(-1), '\n');
});

test('assumes 80 columns if the width of the terminal is unknown', () => {
  const { written, progress, clock } = watch({ isTTY: true, columns: 0 });
  clock.now += HALF.elapsedMs;
  progress.end(HALF);
  assert.equal(written[0], `\r${formatBar(HALF, 80)}\x1b[K`);
});

test('ends its line if interrupted, and prints none before the start', () => {
  const { written, progress, clock } = watch({ isTTY: true, columns: 60 });
  progress[Symbol.dispose]();
  assert.deepEqual(written, []);
  clock.now += 100;
  progress.show(HALF);
  progress[Symbol.dispose]();
  progress[Symbol.dispose]();
  assert.deepEqual(written.slice(1), ['\n']);
});

test('writes plain lines if it is no terminal, at most every 5 s, and a last one', () => {
  const { written, progress, clock } = watch({});
  for (let n = 0; n < 120; n += 1) {
    clock.now += 100;
    progress.show(HALF);
  }
  assert.equal(written.length, 2);
  progress.end({ ...HALF, bytes: 100 });
  assert.deepEqual(written.at(-1), '100 %, 123,456 rows, 12 rejected, 10,288 rows/s\n');
  for (const text of written) assert.match(text, /^[ -~]+\n$/);
});

/** A progress line on a stream that records what is written. */
function watch(terminal: { readonly isTTY?: boolean; readonly columns?: number }) {
  const written: string[] = [];
  const clock = makeClock();
  const stream = { ...terminal, write: (text: string) => written.push(text) };
  return { written, clock, progress: new Progress(stream, clock) };
}
