/** Scheduled backups: in order, without overlap, reported, and without delaying requests. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type BackupRun, scheduleBackups } from '../../../src/cli/backup/backup-schedule.ts';
import { run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { damage } from '../../store/sqlite/check/sample-folder.ts';
import { createKey, createSeller } from '../setup.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 21);

test('creates the next backup when it is due, and reports backups and failures', async () => {
  const outcomes: (BackupRun | Error)[] = [
    { file: 'one.db', removed: [], dueInMs: HOUR_MS },
    { file: undefined, removed: [], dueInMs: 5_000 },
    new Error('The disk is full.'),
    { file: 'two.db', damage: 'One fault.', removed: ['old.db'], dueInMs: 48 * HOUR_MS },
    { file: undefined, removed: [], dueInMs: undefined },
  ];
  const events: (string | number)[] = [];
  const over = Promise.withResolvers<void>();
  const schedule = scheduleBackups({
    clock: () => NOW,
    intervalMs: 48 * HOUR_MS,
    async run() {
      const outcome = outcomes.shift();
      if (outcome instanceof Error) throw outcome;
      return outcome ?? assert.fail('the schedule continues');
    },
    async wait(waitMs) {
      events.push(waitMs);
      if (outcomes.length > 0) return;
      over.resolve();
      await schedule.stop();
    },
    note: (text) => void events.push(text),
    warn: (text) => void events.push(`! ${text}`),
  });
  await over.promise;
  // Computed from when the next backup is due after the last run.
  assert.deepEqual(schedule.readMetrics(), { made: 2, damaged: 1, failed: 1, newestAt: NOW });
  assert.deepEqual(events, [
    'Backed up to one.db.', HOUR_MS,
    5_000,
    '! The backup failed: The disk is full.', 600_000,
    'Backed up to two.db. Removed the oldest: old.db.',
    '! This backup did not pass its check: One fault. Run doctor --file two.db.',
    HOUR_MS, // it checks: clocks may step
    600_000,
  ]);
});

test('aborts a backup in progress when stopped, without reporting a failure', async () => {
  const events: string[] = [];
  const schedule = scheduleBackups({
    clock: () => NOW,
    intervalMs: HOUR_MS,
    run: (signal) => new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('ended')));
    }),
    wait: () => assert.fail('it still waits'),
    note: (text) => void events.push(text), warn: (text) => void events.push(text),
  });
  await schedule.stop();
  assert.deepEqual(events, []);
  assert.deepEqual(schedule.readMetrics(), { made: 0, damaged: 0, failed: 0, newestAt: undefined });
});

test('creates backups while serving, limits their number, and stops with the server', async (t) => {
  const data = join(makeFolder(t), 'data');
  await createSeller(data);
  const folder = makeFolder(t);
  const flags = [
    '--data', data, '--backup-folder', folder, '--backup-keep', '2', '--metrics-port', '0',
  ];
  const serving = await startServing(t, [...flags, '--backup-every', '1s']);
  const made = (): string[] =>
    [...serving.notes().matchAll(/^Backed up to (.*\.db)\./gm)].map(([, path]) => path ?? '');
  while (made().length < 3) {
    assert.equal(serving.child.exitCode, null, serving.notes());
    await wait(20);
  }
  assert.equal((await fetch(`${serving.url}/api/v1/products`)).status, 401);
  const [, metrics = ''] = /^Metrics on (.*)$/m.exec(serving.notes()) ?? [];
  const figures = await (await fetch(metrics)).text();
  assert.match(figures, /^backups_total\{outcome="made"\} [3-9]\d*$/m);
  assert.match(figures, /^backup_newest_timestamp_seconds \d{10}(?:\.\d+)?$/m);
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.match(serving.notes(), /Removed the oldest: catalogue-\d{8}T\d{6}Z\.db\./);
  assert.doesNotMatch(serving.notes(), /failed/);
  const whole = readdirSync(folder).filter((name) => /^catalogue-\d{8}T\d{6}Z\.db$/.test(name));
  assert.equal(whole.length, 2, whole.join());
  for (const name of whole) {
    const db = new DatabaseSync(join(folder, name), { readOnly: true });
    assert.equal(db.prepare('SELECT count(*) AS count FROM seller').get()?.['count'], 1);
    db.close();
  }
});

test('lets only one of two servers on a data folder create the backup', async (t) => {
  const data = join(makeFolder(t), 'data');
  await createSeller(data);
  const folder = makeFolder(t);
  const flags = ['--data', data, '--backup-folder', folder];
  const both = await Promise.all([startServing(t, flags), startServing(t, flags)]);
  const notes = (): string => both.map((one) => one.notes()).join('');
  while (!/^Backed up to/m.test(notes())) await wait(20);
  const { out } = await run(['backup', '--folder', folder, '--every', '24h', '--data', data]);
  assert.match(out, /^(?:No backup needed: the latest is recent enough|Another process)/);
  for (const one of both) assert.equal(await one.stop('SIGTERM'), 0);
  assert.equal(notes().match(/^Backed up to/gm)?.length, 1);
  assert.equal(readdirSync(folder).length, 1);
});

test('reports the time of a backup that was created before it started', async () => {
  const schedule = scheduleBackups({
    intervalMs: 24 * HOUR_MS, clock: () => NOW,
    run: async () => ({ file: undefined, removed: [], dueInMs: 20 * HOUR_MS }),
    wait: () => schedule.stop(),
    note: assert.fail, warn: assert.fail,
  });
  await schedule.stop();
  const expected = { made: 0, damaged: 0, failed: 0, newestAt: NOW - 4 * HOUR_MS };
  assert.deepEqual(schedule.readMetrics(), expected);
});

test('runs doctor on each backup, and reports what contradicts itself', async (t) => {
  const data = join(makeFolder(t), 'data');
  await createSeller(data);
  const { key } = await createKey(data);
  const flags = ['--data', data, '--no-portal'];
  const first = await startServing(t, flags);
  const made = await send(first.port, {
    method: 'POST', path: '/api/v1/products',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'A', category: 'B', sku: 'C', price: 1, stock: 1 }),
  });
  assert.equal(made.status, 201);
  await first.stop('SIGTERM');
  damage(data, 'UPDATE product SET stock = 7');
  const folder = makeFolder(t);
  const serving = await startServing(t, [...flags, '--backup-folder', folder]);
  await serving.waitForNote(/^Backed up to/m);
  await serving.waitForNote(/^This backup did not pass its check: Doctor found 1 fault\. Run/m);
  assert.equal(await serving.stop('SIGTERM'), 0);
});

test('reports a failed backup, and keeps serving', async (t) => {
  const data = join(makeFolder(t), 'data');
  await createSeller(data);
  const flags = ['--data', data, '--backup-folder', join(data, 'nowhere')];
  const serving = await startServing(t, flags);
  await serving.waitForNote(/^The backup failed: ENOENT.*nowhere/m);
  assert.equal((await fetch(`${serving.url}/api/v1/products`)).status, 401);
  assert.equal(await serving.stop('SIGTERM'), 0);
});

const INVALID_SETTINGS: readonly [args: readonly string[], says: RegExp][] = [
  [['serve', '--backup-every', '1x'], /"1x" is not a duration/],
  [['serve', '--backup-every', '0s'], /1s or more/],
  [['serve', '--backup-keep', '0'], /from 1 to 10000/],
  [['serve', '--backup-keep', 'all'], /whole number/],
  [['backup'], /Give either FILE or --folder/],
  [['backup', 'x.db', '--folder', 'y'], /Give either FILE or --folder/],
  [['backup', 'x.db', '--keep', '2'], /need --folder/],
  [['backup', '--folder', 'y', '--keep', '0'], /from 1 to 10000/],
];

test('rejects invalid backup settings', async (t) => {
  const data = join(makeFolder(t), 'data');
  await Promise.all(INVALID_SETTINGS.map(async ([args, says]) => {
    const { status, notes } = await run([...args, '--data', data]);
    assert.equal(status, 2, args.join(' '));
    assert.match(notes, says);
  }));
});
