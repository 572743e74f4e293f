/**
 * Power cuts while `stock sync --watch` sends and publishes a file: a file that was sent is sent
 * again only under the same key, and one that was reported as published is there with its report
 * and its rejected rows.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { WatchedFolder } from '../../src/cli/watch/watched-folder.ts';
import type { Claim } from '../../src/cli/watch/claim.ts';
import { openShop } from '../cli/shop.ts';
import { makeFolder } from '../support/folder.ts';
import { findFreePort } from '../support/listening.ts';
import { NO_STRACE } from '../support/strace.ts';
import { type Checker, type CrashState, play, Total } from './power-cut/play.ts';
import { endAt, Recorder, type Recording, writeUnsynced } from './power-cut/record.ts';

const OPTIONS = { skip: NO_STRACE };
const NAME = 'till.csv';
const ROWS = 'sku,adjust\nMUG-1,5\nNEVER,7\n';
const COUNTS = { around: 20, more: 100 };
const KEY_HEADER = /^idempotency-key: "(.*)"\r$/im;
const KEY = /^[\da-f-]{36}$/;
const PUBLISHED = 'a file is published';
const NOT_SENT = 'a file was not sent';
const total = new Total();

test('a power cut leaves a watched file to be sent under its key, or done', OPTIONS, async (t) => {
  const shop = await openShop(t);
  const product = { sku: 'MUG-1', name: 'Mug', category: 'Kitchen', price: 1, stock: 0 };
  await shop.run('products', 'create', JSON.stringify(product));
  const recording = await recordWatch(t, {
    environment: shop.environment, port: shop.port, until: /The rejected rows of/,
  });
  const [key = '', ...others] = recording.receipts.map(({ what }) => what);
  assert.match(key, KEY);
  assert.deepEqual(others, [PUBLISHED]);
  const playing = { ...COUNTS, scratch: makeFolder(t) };
  total.assertUnharmed(await play(t, recording, makeChecker({ isFlushed: true }), playing));
  // The program that wrote the file has not flushed it: what was sent must be what is kept.
  const path = join(recording.root, 'in', NAME);
  const unsynced = writeUnsynced(recording, path, Buffer.from(ROWS));
  total.assertUnharmed(await play(t, unsynced, makeChecker({ isFlushed: false }), playing));
});

test('a power cut brings no attempt back that did not reach the server', OPTIONS, async (t) => {
  const { environment } = await openShop(t);
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const recording = await recordWatch(t, {
    environment: { ...environment, SELLER_API_URL: url }, until: /Retrying till\.csv/,
  });
  assert.equal(recording.receipts[0]?.what, NOT_SENT);
  const isAttempt = ({ to = '' }): boolean => to.endsWith('.attempt.json');
  const [, second] = recording.operations.filter((operation) =>
    operation.kind === 'rename' && isAttempt(operation));
  const attempted = second ? endAt(recording, second.begin) : recording;
  const playing = { ...COUNTS, scratch: makeFolder(t) };
  total.assertUnharmed(await play(t, attempted, makeChecker({ isFlushed: true }), playing));
});

test('cuts the power in many ways while a folder is watched', OPTIONS, (t) => {
  total.assertEnough(t, 80);
});

interface Watch {
  readonly environment: NodeJS.ProcessEnv;
  /** The server's, if it answers. */
  readonly port?: number;
  /** The message after which the watch is stopped. */
  readonly until: RegExp;
}

async function recordWatch(
  t: TestContext, { environment, port, until }: Watch,
): Promise<Recording> {
  const root = makeFolder(t);
  mkdirSync(join(root, 'in'));
  writeFileSync(join(root, 'in', NAME), ROWS);
  const recorder = new Recorder(t, root);
  if (port !== undefined) {
    recorder.claimMessages(port, (text) => {
      const [, key] = KEY_HEADER.exec(text) ?? [];
      return key === undefined ? [] : [{ what: key }];
    });
  }
  recorder.claimNotes((text) => [
    ...text.includes('The rejected rows of') ? [{ what: PUBLISHED }] : [],
    ...text.includes('Retrying') ? [{ what: NOT_SENT }] : [],
  ]);
  const watch = ['stock', 'sync', '--watch', join(root, 'in'), '--settle', '0s'];
  const child = recorder.start(watch, { environment });
  let notes = '';
  const ended = once(child, 'close');
  child.stdout?.resume();
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const isAwaited = !until.test(notes);
    notes += text;
    if (isAwaited && until.test(notes)) child.kill('SIGTERM'); // a second one would kill it
  });
  assert.deepEqual(await ended, [0, null], notes);
  assert.match(notes, until);
  return recorder.finish();
}

/** Does what the next start does, up to sending. A file that is not flushed may be lost. */
function makeChecker({ isFlushed }: { readonly isFlushed: boolean }): Checker {
  return async (state) => {
    const receipts = state.receipts.map(({ what }) => what);
    using watched = new WatchedFolder(join(state.folder, 'in'), {
      settleMs: 0, isWanted: () => true, onIgnored: () => {}, clock: Date.now, timer: () => 0,
    });
    const claim = watched.next();
    if (receipts.includes(PUBLISHED) && claim) return ['A published file is claimed again.'];
    if (claim && !claim.isFinished) return checkUnfinished(claim, receipts);
    if (claim) watched.publish(claim);
    const isExpected = isFlushed || receipts.length > 0 || claim !== undefined;
    return isExpected ? checkPublished(state) : [];
  };
}

function checkUnfinished(claim: Claim, receipts: readonly string[]): string[] {
  const key = receipts.find((receipt) => KEY.test(receipt));
  if (receipts.includes(NOT_SENT) && claim.attempt) return ['The file seems to have been sent.'];
  if (key === undefined) return [];
  return [
    ...claim.id === key ? [] : ['The file would be sent under another key.'],
    ...claim.attempt ? [] : ['The file does not seem to have been sent.'],
    ...readFileSync(claim.path, 'utf8') === ROWS ? [] : ['Other rows would be sent.'],
  ];
}

function checkPublished({ folder }: CrashState): string[] {
  const done = readFiles(join(folder, 'in/done'));
  const readBySuffix = (suffix: string): string | undefined =>
    [...done].find(([name]) => name.endsWith(suffix))?.[1];
  const report = readBySuffix('.report.json');
  if (report === undefined) return ['The file is lost.'];
  const [rejected] = readFiles(join(folder, 'in/rejected')).values();
  return [
    ...JSON.parse(report).status === 'applied' ? [] : ['The report is wrong.'],
    ...readBySuffix(NAME) === ROWS ? [] : ['The published file is lost, or other rows are in it.'],
    ...rejected?.includes('NEVER,7') === true && rejected.endsWith('\n') ? []
      : ['The rejected rows are lost.'],
  ];
}

function readFiles(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(names.map(({ name }) => [name, readFileSync(join(folder, name), 'utf8')]));
}
