/** Which files of a watched folder are claimed, when, and where they are published. */
import assert from 'node:assert/strict';
import {
  existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Claim } from '../../../src/cli/watch/claim.ts';
import { WatchedFolder } from '../../../src/cli/watch/watched-folder.ts';
import { makeFolder } from '../../support/folder.ts';

const NOW = Date.UTC(2026, 0, 31, 12);

interface Watched {
  readonly folder: WatchedFolder;
  readonly path: string;
  readonly ignored: string[];
  /** Advances the timer. */
  pass(ms: number): void;
  put(name: string, text?: string, modifiedSeconds?: number): void;
  /** The files of a subfolder. */
  list(name: string): string[];
}

function openFolder(t: TestContext, path = makeFolder(t)): Watched {
  let timeMs = 0;
  const ignored: string[] = [];
  const folder = new WatchedFolder(path, {
    settleMs: 5_000, clock: () => NOW, timer: () => timeMs,
    isWanted: (name) => name.endsWith('.csv'),
    onIgnored: (name, why) => void ignored.push(`${name}: ${why}`),
  });
  t.after(() => folder[Symbol.dispose]());
  return {
    folder, path, ignored,
    pass(ms) { timeMs += ms; },
    put(name, text = 'sku,stock\n', modifiedSeconds = 1_000) {
      writeFileSync(join(path, name), text);
      utimesSync(join(path, name), modifiedSeconds, modifiedSeconds);
    },
    list: (name) => readdirSync(join(path, name)).sort(),
  };
}

/** Puts a file into the folder, and claims it once it is complete. */
function claimFile(watched: Watched, name: string): Claim {
  watched.put(name);
  watched.folder.next();
  watched.pass(5_000);
  const claim = watched.folder.next();
  assert.ok(claim);
  return claim;
}

/** Claims, finishes and publishes the next file, and returns its name. */
function takeNext({ folder }: Watched): string | undefined {
  const claim = folder.next();
  if (!claim) return undefined;
  claim.finish({ file: claim.name, status: 'applied' });
  return folder.publish(claim).report.file;
}

test('claims a file once it has not changed for the settle time', (t) => {
  const watched = openFolder(t);
  watched.put('a.csv');
  assert.equal(watched.folder.next(), undefined);
  watched.pass(4_999);
  watched.put('a.csv', 'sku,stock\nA,1\n');
  assert.equal(watched.folder.next(), undefined);
  watched.pass(4_999);
  assert.equal(watched.folder.next(), undefined);
  watched.pass(1);
  const claim = watched.folder.next();
  assert.equal(claim?.name, 'a.csv');
  assert.match(claim.path, /sending\/20260131T120000Z-[\da-f-]{36}\/a\.csv$/);
  assert.ok(claim.path.includes(claim.id));
  assert.ok(!existsSync(join(watched.path, 'a.csv')));
});

test('claims the oldest file first, and equally old ones by name', (t) => {
  const watched = openFolder(t);
  watched.put('b.csv', 'x', 1_000);
  watched.put('c.csv', 'x', 999);
  watched.put('a.csv', 'x', 1_000);
  watched.folder.next();
  watched.pass(5_000);
  assert.deepEqual([1, 2, 3, 4].map(() => takeNext(watched)), [
    'c.csv', 'a.csv', 'b.csv', undefined,
  ]);
});

test('waits again for a file that changed while others were sent', (t) => {
  const watched = openFolder(t);
  watched.put('a.csv');
  watched.put('b.csv');
  watched.folder.next();
  watched.pass(5_000);
  assert.equal(takeNext(watched), 'a.csv');
  watched.put('b.csv', 'sku,stock\nstill written');
  assert.equal(takeNext(watched), undefined);
  watched.pass(5_000);
  assert.equal(takeNext(watched), 'b.csv');
});

test('ignores temporary, hidden, empty and unwanted files, and reports some of them once', (t) => {
  const watched = openFolder(t);
  const temporary = ['.a.csv', '~$a.csv', 'a.csv.part', 'a.TMP', 'a.csv.filepart', 'a.csv~'];
  for (const name of temporary) watched.put(name);
  watched.put('a.docx');
  watched.put('empty.csv', '');
  mkdirSync(join(watched.path, 'folder.csv'));
  symlinkSync(join(watched.path, 'a.docx'), join(watched.path, 'link.csv'));
  writeFileSync(Buffer.from(`${watched.path}/\xe4.csv`, 'latin1'), 'x');
  for (let look = 0; look < 3; look += 1) {
    assert.equal(watched.folder.next(), undefined);
    watched.pass(5_000);
  }
  assert.deepEqual(watched.ignored.sort(), [
    'a.docx: its name does not say CSV, .xlsx or NDJSON', 'empty.csv: it is still empty',
    'link.csv: it is not a regular file', '\ufffd.csv: its name is not UTF-8',
  ]);
  watched.put('empty.csv', 'sku,stock\n');
  watched.folder.next();
  watched.pass(5_000);
  assert.equal(takeNext(watched), 'empty.csv');
});

test('assigns distinct ids to files with the same name and content, and keeps both', (t) => {
  const watched = openFolder(t);
  const ids = [1, 2].map(() => {
    watched.put('stock.csv', 'sku,adjust\nA,-1\n');
    watched.folder.next();
    watched.pass(5_000);
    const claim = watched.folder.next();
    assert.ok(claim);
    claim.finish({ file: claim.name, status: 'applied' });
    watched.folder.publish(claim);
    return claim.id;
  });
  assert.notEqual(ids[0], ids[1]);
  const done = watched.list('done');
  assert.equal(done.length, 4);
  for (const id of ids) {
    const prefix = `20260131T120000Z-${id.slice(0, 8)}-stock.csv`;
    assert.ok(done.includes(prefix) && done.includes(`${prefix}.report.json`), done.join());
  }
});

test('publishes rejected rows in rejected/, without the prefix of an earlier run', (t) => {
  const watched = openFolder(t);
  const claim = claimFile(watched, '20250101T000000Z-01234567-stock.failed.csv');
  const rows = claim.prepareRejectedPath('csv');
  writeFileSync(rows, 'sku,stock,error\n', { mode: 0o600 });
  claim.finish({ file: claim.name, status: 'applied' }, rows);
  const { path, rejectedPath = '' } = watched.folder.publish(claim);
  const prefix = `20260131T120000Z-${claim.id.slice(0, 8)}-`;
  assert.equal(path, join(watched.path, 'done', `${prefix}stock.failed.csv`));
  assert.equal(rejectedPath, join(watched.path, 'rejected', `${prefix}stock.failed.csv`));
  assert.equal(readFileSync(rejectedPath, 'utf8'), 'sku,stock,error\n');
});

test('publishes a file with the longest name that the file system allows', (t) => {
  const watched = openFolder(t);
  const name = `${'ä'.repeat(125)}.csv`;
  watched.put(name);
  watched.folder.next();
  watched.pass(5_000);
  assert.equal(takeNext(watched), name);
  assert.match(watched.list('done').join('\n'), /-ä{44}\.csv\n.*-ä{44}\.csv\.report\.json$/);
});

test('continues with claims of an earlier process, and removes empty ones', (t) => {
  const path = makeFolder(t);
  const watched = openFolder(t, path);
  watched.put('a.csv');
  watched.folder.next();
  watched.pass(5_000);
  const before = watched.folder.next();
  assert.ok(before);
  before.beginAttempt({ started_at: '2026-01-31T12:00:00.000Z', options: { source: 'till' } });
  watched.folder[Symbol.dispose]();
  mkdirSync(join(path, 'sending', '20250101T000000Z-01234567-0123-0123-0123-0123456789ab'));
  mkdirSync(join(path, 'sending', 'mine'));
  const later = openFolder(t, path);
  later.put('older.csv', 'sku,stock\n', 1);
  const claim = later.folder.next();
  assert.deepEqual([claim?.id, claim?.name], [before.id, 'a.csv']);
  assert.deepEqual(claim?.attempt?.options, { source: 'till' });
  assert.deepEqual(later.list('sending').length, 3);
  assert.deepEqual(later.list('sending').at(-1), 'mine');
});

test('publishes no rejected rows of an attempt that a crash ended', (t) => {
  const watched = openFolder(t);
  const claim = claimFile(watched, 'a.csv');
  for (const format of ['csv', 'ndjson']) {
    writeFileSync(claim.prepareRejectedPath(format), 'sku,error\nA,not the');
  }
  claim.finish({ file: 'a.csv', status: 'unknown' });
  assert.equal(watched.folder.publish(claim).rejectedPath, undefined);
  const prefix = `20260131T120000Z-${claim.id.slice(0, 8)}-`;
  assert.deepEqual(watched.list('rejected'), [`${prefix}a.csv`, `${prefix}a.csv.report.json`]);
  assert.deepEqual(watched.list('sending'), ['.lock']);
});

const MOVES = ['rows', 'file'] as const;
for (const last of MOVES) {
  test(`completes a publication that stopped after the move of the ${last}`, (t) => {
    const watched = openFolder(t);
    const claim = claimFile(watched, 'a.csv');
    const rows = claim.prepareRejectedPath('csv');
    writeFileSync(rows, 'sku,error\n');
    claim.finish({ file: 'a.csv', status: 'applied' }, rows);
    const prefix = `20260131T120000Z-${claim.id.slice(0, 8)}-`;
    renameSync(rows, join(watched.path, 'rejected', `${prefix}a.failed.csv`));
    if (last === 'file') renameSync(claim.path, join(watched.path, 'done', `${prefix}a.csv`));
    const found: Claim | undefined = watched.folder.next();
    assert.ok(found?.isFinished);
    watched.folder.publish(found);
    assert.deepEqual(watched.list('done'), [`${prefix}a.csv`, `${prefix}a.csv.report.json`]);
    assert.deepEqual(watched.list('rejected'), [`${prefix}a.failed.csv`]);
    assert.deepEqual(watched.list('sending'), ['.lock']);
    assert.equal(watched.folder.next(), undefined);
  });
}

test('rejects a second watcher of the folder, and a missing folder', (t) => {
  const { path } = openFolder(t);
  assert.throws(() => openFolder(t, path), /^CommandFailure: Another process watches .* Stop it/);
  assert.throws(() => openFolder(t, join(path, 'none')), /There is no folder .*none\./);
});
