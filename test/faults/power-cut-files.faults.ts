/**
 * Power cuts while files are replaced: backups, restores and exports. Each file is
 * complete or missing, and once it was reported as written, it exists.
 */
import assert from 'node:assert/strict';
import {
  copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openShop, SAMPLE } from '../cli/shop.ts';
import { FILE_NAME } from '../store/sqlite/engine/read-file.ts';
import { makeFolder } from '../support/folder.ts';
import { NO_STRACE } from '../support/strace.ts';
import type { Commits } from './power-cut/commits.ts';
import { checkCopy, readHash } from './power-cut/check-data-folder.ts';
import { leaveHotJournal, makeOldCatalogue } from './power-cut/old-catalogue.ts';
import { type Checker, play, Total } from './power-cut/play.ts';
import { ignoreSyncs, Recorder } from './power-cut/record.ts';
import { cutPower, openRecordedShop, serveRecorded, work } from './power-cut/recorded-shop.ts';

const OPTIONS = { skip: NO_STRACE };
const total = new Total();
const KEPT = /^catalogue\.db\.replaced-\d{8}T\d{6}Z$/;

test('a power cut leaves a complete backup or none, while a server writes', OPTIONS, async (t) => {
  const { recorder, root, folder, key } = await openRecordedShop(t);
  const serving = await serveRecorded(t, { recorder, folder });
  const working = work(recorder.connect(serving.port, key), 'C', 10);
  const file = join(root, 'copy.db');
  await recorder.run(['backup', file, '--data', folder], () =>
    [{ what: 'the backup exists', file: 'copy.db' }]);
  await working;
  assert.equal(await serving.stop('SIGTERM'), 0);
  total.assertUnharmed(await cutPower(t, await recorder.finish(), {
    folder, around: 1, more: 60,
    checkRest: (commits) => async (state) => checkBackups(state.folder, commits),
  }));
});

test('a power cut leaves the newest scheduled backup complete', OPTIONS, async (t) => {
  const shop = await openRecordedShop(t, ['backups']);
  const { recorder, root, folder, key } = shop;
  const backups = join(root, 'backups');
  const flags = ['--backup-folder', backups, '--backup-every', '1s', '--backup-keep', '2'];
  recorder.claimNotes((text) => (text.includes('Backed up to') ? [{ what: A_BACKUP }] : []));
  const serving = await serveRecorded(t, { recorder, folder }, flags);
  for (const name of ['A', 'B', 'C', 'D']) {
    const count = name.charCodeAt(0) - 'A'.charCodeAt(0) + 1;
    const made = serving.waitForNote(new RegExp(`(?:Backed up to[^]*){${count}}`));
    // Its own connection: on a slow machine, an idle one is closed before the backup is made.
    await work(recorder.connect(serving.port, key), name, 2);
    await made;
  }
  assert.equal(await serving.stop('SIGTERM'), 0);
  total.assertUnharmed(await cutPower(t, await recorder.finish(), {
    folder, around: 1, more: 60, checkRest: (commits) => async ({ folder: state, receipts }) => {
      const isReported = receipts.some(({ what }) => what === A_BACKUP);
      const isThere = existsSync(join(state, 'backups'))
        && readdirSync(join(state, 'backups')).some((name) => name.endsWith('Z.db'));
      return isReported && !isThere ? ['The backup is lost.']
        : checkBackups(join(state, 'backups'), commits);
    },
  }));
});

const A_BACKUP = 'a backup exists';

function checkBackups(folder: string, commits: Commits): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => /^c.*\.db$/.test(name));
  return names.flatMap((name) => checkCopy(join(folder, name), commits));
}

test('a power cut leaves the old or the restored catalogue, and the old one under a name',
  OPTIONS, async (t) => {
    const { backup, crashed } = await makeOldCatalogue(t);
    const root = makeFolder(t);
    const folder = join(root, 'data');
    cpSync(crashed, folder, { recursive: true });
    await cutRestore(t, { root, folder, backup }, ['--replace'], (commits) => {
      const [old] = commits.keys();
      return async (state) => {
        const data = join(state.folder, 'data');
        const names = readdirSync(data).filter((name) => KEPT.test(name));
        const hashes = [FILE_NAME, ...names].map((name) => readHash(join(data, name)));
        const found = names.flatMap((name) => checkCopy(join(data, name), commits));
        return hashes.includes(old) ? found : ['The old catalogue is lost.', ...found];
      };
    });
  });

test('a power cut leaves the restored catalogue or none in a new folder',
  OPTIONS, async (t) => {
    const { backup, crashed } = await makeOldCatalogue(t);
    const root = makeFolder(t);
    const keyFile = join(crashed, 'server.key');
    await cutRestore(t, { root, folder: join(root, 'srv/data'), backup, keyFile });
  });

test('a power cut during a restore applies no WAL of a lost catalogue to it',
  OPTIONS, async (t) => {
    const { backup, crashed } = await makeOldCatalogue(t);
    const root = makeFolder(t);
    const folder = join(root, 'data');
    mkdirSync(folder, { mode: 0o700 });
    for (const name of [`${FILE_NAME}-wal`, 'server.key']) {
      copyFileSync(join(crashed, name), join(folder, name));
    }
    await cutRestore(t, { root, folder, backup });
  });

test('a power cut during a restore applies no journal of a lost catalogue to it',
  OPTIONS, async (t) => {
    const old = await makeOldCatalogue(t);
    const root = makeFolder(t);
    const folder = join(root, 'data');
    leaveHotJournal(old, folder);
    copyFileSync(join(old.crashed, 'server.key'), join(folder, 'server.key'));
    await cutRestore(t, { root, folder, backup: old.backup });
  });

interface Restore {
  readonly root: string;
  readonly folder: string;
  readonly backup: string;
  /** The server's key, if the folder has none. */
  readonly keyFile?: string;
}

/** Restores the backup; if the folder has a key, opens the result once, as the next start does. */
async function cutRestore(
  t: TestContext, { root, folder, backup, keyFile }: Restore, flags: readonly string[] = [],
  checkRest?: (commits: Commits) => Checker,
): Promise<void> {
  const recorder = new Recorder(t, root);
  const data = ['--data', folder, '--json'];
  await recorder.run(['restore', backup, ...data, ...flags], (out) => {
    const { kept, changes } = JSON.parse(out) as { kept: string[]; changes: number };
    const sql = 'SELECT 1 FROM seller WHERE position = ?';
    return [
      { what: 'the catalogue is restored', sql, values: [changes] },
      ...kept.map((name) => ({
        what: `${name.replace(/\d{8}T\d{6}Z/, '...')} is kept`,
        file: relative(root, join(folder, name)),
      })),
    ];
  });
  if (keyFile === undefined) await recorder.run(['seller', 'list', ...data]);
  const isReplacing = checkRest !== undefined;
  total.assertUnharmed(await cutPower(t, await recorder.finish(), {
    folder, around: 12, more: 100, mayBeNew: !isReplacing,
    ...isReplacing && { checkRest }, ...keyFile !== undefined && { keyFile },
  }));
}

for (const what of ['a new file', 'a file that is replaced']) {
  test(`a power cut leaves a complete export or the previous file: ${what}`, OPTIONS, async (t) => {
    const shop = await openShop(t);
    await shop.run('import', SAMPLE);
    const root = makeFolder(t);
    const file = join(root, 'products.csv');
    const old = what === 'a new file' ? undefined : Buffer.from('old');
    if (old) writeFileSync(file, old);
    const recorder = new Recorder(t, root);
    const claim = { what: 'the export is written', file: 'products.csv' };
    const { environment } = shop;
    await recorder.run(['export', file, '--force'], () => [claim], { environment });
    const whole = readFileSync(file);
    const check: Checker = async ({ folder, receipts }) => {
      const path = join(folder, 'products.csv');
      const found = existsSync(path) ? readFileSync(path) : undefined;
      if (found?.equals(whole)) return [];
      if (receipts.length > 0) return ['The export was reported as complete, and is lost.'];
      const isOld = old ? found?.equals(old) === true : found === undefined;
      return isOld ? [] : ['The export is neither complete nor the previous file.'];
    };
    const counts = { around: 8, more: 60, scratch: makeFolder(t) };
    const recording = await recorder.finish();
    total.assertUnharmed(await play(t, recording, check, counts));
    // The proof that a lost export is found: the same run without the fsync of the folder.
    const { failures } = await play(t, ignoreSyncs(recording, root), check, counts);
    const lost = 'strict: The export was reported as complete, and is lost.';
    assert.deepEqual([...failures.keys()].filter((text) => text.startsWith('strict')), [lost]);
  });
}

test('cuts the power in hundreds of ways while files are replaced', OPTIONS, (t) => {
  total.assertEnough(t, 300);
});
