/** The log: its lines, its levels, and backpressure from a slow reader. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Log } from '../../../src/features/telemetry/log.ts';
import { makeClock } from '../../support/clock.ts';

/** A stream that can be blocked, resumed and broken. */
function makeStream() {
  const taken: string[] = [];
  let [isBlocked, isBroken] = [false, false];
  let finishWrite = (): void => {};
  const stream = new Writable({
    decodeStrings: false, highWaterMark: 16 * 1024, autoDestroy: false,
    write(text: string, _coding, done) {
      const take = (): void => {
        if (!isBroken) taken.push(text);
        done(isBroken ? new Error('No space left on device') : null);
      };
      if (isBlocked) finishWrite = take;
      else take();
    },
  });
  stream.on('error', () => {});
  return {
    stream,
    lines: () => taken.join('').split('\n').slice(0, -1).map((line) => JSON.parse(line)),
    block() { isBlocked = true; },
    resume() {
      isBlocked = false;
      finishWrite();
    },
    break() { isBroken = true; },
  };
}

test('writes the lines of one event-loop iteration together, each as a JSON object', async () => {
  const { stream, lines } = makeStream();
  const log = new Log(stream, 'info', makeClock());
  log.write('info', 'first', { text: 'a "b"\n', nothing: undefined, number: 1.5 });
  log.write('warn', 'second', { isIt: true });
  assert.deepEqual(lines(), []);
  await nextTurn();
  const time = '2026-01-02T03:04:05.678Z';
  assert.deepEqual(lines(), [
    { time, level: 'info', event: 'first', text: 'a "b"\n', number: 1.5 },
    { time, level: 'warn', event: 'second', isIt: true },
  ]);
  assert.deepEqual(log.readMetrics(), { written: 2, dropped: 0 });
});

test('writes an error at once, after the lines before it', () => {
  const { stream, lines } = makeStream();
  const log = new Log(stream, 'info', makeClock());
  log.write('info', 'first', {});
  log.write('error', 'second', {});
  assert.deepEqual(lines().map(({ event }) => event), ['first', 'second']);
});

test('omits lines below its level, and steps through all levels', async () => {
  const { stream, lines } = makeStream();
  const log = new Log(stream, 'off', makeClock());
  for (let n = 0; n < 6; n += 1) {
    for (const level of ['error', 'warn', 'info', 'debug'] as const) log.write(level, level, {});
    log.step();
  }
  await nextTurn();
  const [off, error, warn, info, debug] = ['off', 'error', 'warn', 'info', 'debug'].map((level) =>
    `The log level is now ${level}.`);
  assert.deepEqual(lines().map(({ event, message }) => message ?? event), [
    error, 'error', warn, 'error', 'warn', info, 'error', 'warn', 'info', debug,
    'error', 'warn', 'info', 'debug', off, error,
  ]);
});

test('drops lines if the reader is too slow, and logs how many', async () => {
  const { stream, lines, block, resume } = makeStream();
  const log = new Log(stream, 'info', makeClock());
  block();
  const text = 'x'.repeat(1_000);
  for (let n = 0; n < 5_000; n += 1) {
    log.write('info', 'line', { text });
    if (n % 100 === 0) await nextTurn();
  }
  assert.ok(stream.writableLength <= 1.2 * 1024 * 1024);
  const { dropped } = log.readMetrics();
  assert.ok(dropped > 3_000 && dropped < 5_000);
  resume();
  if (stream.writableLength > 0) await once(stream, 'drain');
  log.write('info', 'last', {});
  assert.equal(await log.close(), true);
  const written = lines();
  assert.deepEqual(written.slice(-2).map(({ event, lines: count }) => [event, count]),
    [['log_lines_dropped', dropped], ['last', undefined]]);
  assert.equal(written.length + dropped, 5_002);
  assert.deepEqual(log.readMetrics(), { written: written.length, dropped });
});

test('counts lines that could not be written as dropped', async () => {
  const { stream, break: fail } = makeStream();
  const log = new Log(stream, 'info', makeClock());
  fail();
  log.write('error', 'lost', {});
  await nextTurn();
  assert.deepEqual(log.readMetrics(), { written: 0, dropped: 1 });
});

test('closes within a time limit, even if the reader is blocked', async () => {
  const { stream, block } = makeStream();
  const log = new Log(stream, 'info', makeClock());
  block();
  log.write('info', 'line', {});
  assert.equal(await log.close(), false);
});
