/** Lived time, and the rules for what protects from repetition and for what grants access. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  forgottenUpTo, hasEnded, makeLivedTime, monotonicOf, termFrom,
} from '../../src/runtime/clock.ts';
import { makeClock } from '../support/clock.ts';

test('counts what passes by the monotonic clock, whatever the wall clock says', () => {
  const clock = makeClock();
  clock.now += 500; // before it is opened
  const lived = makeLivedTime(clock);
  assert.equal(lived.read(), 0);
  clock.step(-86_400_000);
  clock.now += 10;
  assert.equal(lived.read(), 10);
});

test('continues from the greater of two readings, and never goes back', () => {
  const clock = makeClock();
  const lived = makeLivedTime(clock);
  lived.adopt(100);
  clock.now += 10;
  lived.adopt(50);
  assert.equal(lived.read(), 110);
});

test('uses the monotonic clock of the system beside a clock that has none', () => {
  const before = performance.now();
  const read = monotonicOf(() => 0);
  assert.ok(read() >= before && read() <= performance.now());
});

test('forgets what is exactly as old as it is kept', () => {
  assert.equal(forgottenUpTo(100, 48), 52);
});

test('ends what grants access by either clock, and nothing without an end', () => {
  const start = { wall: 1_000, lived: 10 };
  const term = termFrom(start, 100);
  assert.equal(term.endsAt, 1_100);
  assert.equal(hasEnded(term, { wall: 1_099, lived: term.livedUntil - 1 }), false);
  assert.equal(hasEnded(term, { ...start, wall: 1_100 }), true);
  assert.equal(hasEnded(term, { ...start, lived: term.livedUntil }), true);
  // Not before its time, even if its process has read the total two minutes ago.
  assert.ok(term.livedUntil >= 10 + 100 + 120_000);
  assert.equal(hasEnded({}, { wall: 1e15, lived: 1e15 }), false);
});
