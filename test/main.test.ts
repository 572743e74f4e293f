/** The command line as a whole: finding a command, its help, and the exit status. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from './support/command.ts';
import { makeFolder } from './support/folder.ts';

const COMMANDS = [
  'serve', 'seller create', 'seller list', 'key create', 'key list', 'key rotate', 'key revoke',
  'backup', 'restore',
];
const COMMON_FLAGS = ['--data DIR', '[SELLER_API_DATA]', '--json', '--help'];
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  serve: [
    '--host', '--port', '--base-url', '--rate-limit', '[SELLER_API_HOST]', '[SELLER_API_PORT]',
    '[SELLER_API_BASE_URL]', '[SELLER_API_RATE_LIMIT]',
  ],
  'seller create': ['NAME', '--currency'],
  'seller list': [],
  'key create': ['--seller', '--name', '--scopes', '--expires', '--allow'],
  'key list': ['--seller'],
  'key rotate': ['KEY_ID', '--overlap'],
  'key revoke': ['KEY_ID'],
  backup: ['[FILE]', '--folder', '--every', '--keep'],
  restore: ['FILE', '--replace'],
};

test('lists every command with --help', async () => {
  const { status, out, notes } = await run(['--help']);
  assert.deepEqual([status, notes], [0, '']);
  for (const name of [...COMMANDS, 'import', 'export', 'doctor', 'demo']) {
    assert.match(out, new RegExp(`^  ${name} +\\S.*\\.$`, 'm'));
  }
});

test('lists the commands where a command is begun and --help follows', async () => {
  const { status, out } = await run(['key', '--help']);
  assert.equal(status, 0);
  assert.match(out, /^ {2}key rotate /m);
});

for (const name of COMMANDS) {
  test(`explains ${name} with --help, and does nothing`, async (t) => {
    const folder = join(makeFolder(t), 'data');
    const { status, out, notes } = await run([...name.split(' '), '--help', '--data', folder]);
    assert.deepEqual([status, notes], [0, '']);
    assert.match(out, new RegExp(`^Usage: seller-api ${name} .*\\[FLAGS\\]$`, 'm'));
    for (const flag of [...FLAGS[name] ?? [], ...COMMON_FLAGS]) assert.ok(out.includes(flag), flag);
    assert.equal(existsSync(folder), false);
  });
}

const misunderstood: readonly [args: readonly string[], says: RegExp][] = [
  [[], /Name a command/],
  [['sell'], /"sell" is not a command/],
  [['seller'], /"seller" is not a command/],
  [['key', 'delete'], /"key delete" is not a command/],
  [['constructor'], /"constructor" is not a command/],
  [['toString', 'x'], /"toString x" is not a command/],
  [['--verbose'], /"--verbose" is not a command/],
  [['seller', 'list', '--verbose'], /--verbose/],
  [['seller', 'list', '--json=yes'], /--json/],
  [['seller', 'list', '--data'], /--data/],
  [['serve', 'now'], /"now"/],
];

for (const [args, says] of misunderstood) {
  test(`does not understand "${args.join(' ')}": one line and exit status 2`, async () => {
    const { status, out, notes } = await run(args);
    assert.match(notes, says);
    assert.match(notes, /^[^\n]+ Add --help to see what there is\.\n$/);
    assert.deepEqual([status, out], [2, '']);
  });
}

test('fails in one line with exit status 1 where the database is not its own', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'catalogue.db'), 'Dear diary');
  for (const args of [['seller', 'list'], ['serve', '--port', '0']]) {
    const { status, out, notes } = await run([...args, '--data', folder]);
    assert.deepEqual([status, out], [1, '']);
    assert.match(notes, /^[^\n]*catalogue\.db is not a database of this server[^\n]*\n$/);
  }
});

test('fails in one line with exit status 1 where the folder cannot be made', async (t) => {
  const file = join(makeFolder(t), 'file');
  writeFileSync(file, '');
  const { status, out, notes } = await run(['seller', 'list', '--data', join(file, 'data')]);
  assert.deepEqual([status, out], [1, '']);
  assert.match(notes, /^[^\n]*ENOTDIR[^\n]*\n$/);
});

test('takes the folder from SELLER_API_DATA, and the flag wins over it', async (t) => {
  const [named, flagged] = [join(makeFolder(t), 'named'), join(makeFolder(t), 'flagged')];
  const environment = { SELLER_API_DATA: named };
  await run(['seller', 'create', 'Named'], environment);
  await run(['seller', 'create', 'Flagged', '--data', flagged], environment);
  const lists = await Promise.all([named, flagged].map((folder) =>
    run(['seller', 'list', '--json', '--data', folder], environment)));
  const sellers = lists.map(({ out }) => JSON.parse(out).sellers);
  assert.deepEqual(sellers.map(([one]) => one.name), ['Named', 'Flagged']);
});

const FULL = '/dev/full';
const hasFull = statSync(FULL, { throwIfNoEntry: false })?.isCharacterDevice() === true;

test('says in one line that standard output is full', {
  skip: hasFull ? false : 'no /dev/full here',
}, () => {
  const full = openSync(FULL, constants.O_WRONLY); // makes no file where there is none
  const main = join(import.meta.dirname, '../src/main.ts');
  const { status, stderr } = spawnSync(process.execPath, [main, '--help'], {
    stdio: ['ignore', full, 'pipe'], encoding: 'utf8',
  });
  closeSync(full);
  assert.equal(stderr, 'Standard output cannot be written: ENOSPC\n');
  assert.equal(status, 1);
});
