/** `doctor`, as a user types it: what it prints, and its exit status. */
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { copyFolder, damage, makeSampleFolder } from '../../store/sqlite/check/sample-folder.ts';

let sample = '';
const cleanups: (() => void)[] = [];
before(async () => {
  sample = await makeSampleFolder({ after: (remove) => void cleanups.push(remove as () => void) });
});
after(() => cleanups.forEach((remove) => remove()));

const CHECKS = ['files', 'disk', 'version', 'integrity', 'references', 'schema', 'positions',
  'ledger', 'descriptions', 'stock-days', 'imports', 'webhooks', 'accounts', 'audit-chain',
  'secrets', 'search', 'node'];

test('prints a line for each check of a healthy folder, with exit status 0', async () => {
  const { status, out, notes } = await run(['doctor', '--data', sample]);
  assert.deepEqual([status, notes], [0, '']);
  const lines = out.trimEnd().split('\n');
  const names = lines.filter((line) => /^(?:ok|warning) /.test(line))
    .map((line) => line.split(/ +/)[1]);
  assert.deepEqual(names, CHECKS);
  assert.match(lines.at(-1) ?? '', /^No problems found\.$|^No faults, \d+ warnings?\.$/);
});

test('prints a fault and what to do, with exit status 1', async (t) => {
  const folder = copyFolder(t, sample);
  damage(folder, "UPDATE audit_event SET subject = 'forged' WHERE n = 2");
  const { status, out, notes } = await run(['doctor', '--data', folder]);
  assert.equal(status, 1);
  assert.equal(notes, 'Doctor found 1 fault.\n');
  assert.match(out,
    /^fault {4}audit-chain .*\n {2}fault: .* of sel_\w+ is broken at event 2\.\n {4}\S.*backup/m);
});

test('prints all findings as one JSON document', async (t) => {
  const folder = copyFolder(t, sample);
  damage(folder, 'DROP INDEX change_deleted');
  chmodSync(folder, 0o750);
  const { status, out } = await run(['doctor', '--data', folder, '--json']);
  const { status: verdict, faults, checks } = JSON.parse(out);
  assert.deepEqual([status, verdict, faults], [1, 'fault', 2]);
  assert.deepEqual(checks.map(({ name }: { name: string }) => name), CHECKS);
  const schema = checks.find(({ name }: { name: string }) => name === 'schema');
  assert.equal(schema.status, 'fault');
  assert.deepEqual(schema.findings.map(({ level, what }: Record<string, string>) => [level, what]),
    [['fault', 'The index change_deleted is missing.']]);
});

test('exits with 0 if there are only warnings', async (t) => {
  const folder = copyFolder(t, sample);
  writeFileSync(join(folder, 'notes.txt'), '');
  const { status, out } = await run(['doctor', '--data', folder]);
  assert.equal(status, 0);
  assert.match(out, /^ {2}warning: .*notes\.txt is not a file of this server\.$/m);
  assert.match(out, /\nNo faults, \d+ warnings?\.\n$/);
});

test('works while a server has the folder open', async (t) => {
  const folder = copyFolder(t, sample);
  await startServing(t, ['--data', folder]);
  const { status, out } = await run(['doctor', '--data', folder]);
  assert.equal(status, 0, out);
});

test('checks one file, such as a backup', async (t) => {
  const file = join(makeFolder(t), 'backup.db');
  copyFileSync(join(sample, 'catalogue.db'), file);
  const sound = await run(['doctor', '--file', file, '--json']);
  assert.equal(sound.status, 0, sound.out);
  const names = JSON.parse(sound.out).checks.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, [...CHECKS.slice(2, -3), 'node']);
  writeFileSync(file, 'Dear diary, '.repeat(500));
  const foreign = await run(['doctor', '--file', file]);
  assert.equal(foreign.status, 1);
  assert.match(foreign.out, /^ {2}fault: It cannot be read: file is not a database\.$/m);
});

test('creates nothing if there is no database, with exit status 1', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const { status, out, notes } = await run(['doctor', '--data', folder]);
  assert.deepEqual([status, out], [1, '']);
  assert.match(notes, /^There is no catalogue in .*data\. Name the right folder [^\n]*\n$/);
  assert.equal(existsSync(folder), false);
});
