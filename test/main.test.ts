/** The command line as a whole: finding a command, its help, and the exit status. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync, constants, existsSync, openSync, readFileSync, statSync, writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { commands } from '../src/cli/commands.ts';
import { run } from './support/command.ts';
import { makeFolder } from './support/folder.ts';

const ROOT = join(import.meta.dirname, '..');
const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;

const COMMANDS = [
  'serve', 'seller create', 'seller list', 'key create', 'key list', 'key rotate', 'key revoke',
  'backup', 'restore',
];
const COMMON_FLAGS = ['--data DIR', '[SELLER_API_DATA]', '--json', '--help'];
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  serve: [
    '--host', '--port', '--base-url', '--rate-limit', '--seller-rate-limit',
    '[SELLER_API_HOST]', '[SELLER_API_PORT]',
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
  for (const name of new Set([...COMMANDS, ...commands.keys()])) {
    assert.match(out, new RegExp(`^  ${name} +\\S.*\\.$`, 'm'));
  }
});

test('lists the commands of a group before --help', async () => {
  const { status, out } = await run(['key', '--help']);
  assert.equal(status, 0);
  assert.match(out, /^ {2}key rotate /m);
});

for (const args of [['-h'], ['help'], ['--help', '--json']]) {
  test(`lists every command with "${args.join(' ')}"`, async () => {
    const [{ status, out, notes }, { out: all }] = [await run(args), await run(['--help'])];
    assert.deepEqual([status, out, notes], [0, all, '']);
  });
}

for (const args of [['key'], ['key', '-h'], ['help', 'key']]) {
  test(`lists the commands of a group with "${args.join(' ')}", and no others`, async () => {
    const { status, out, notes } = await run(args);
    assert.deepEqual([status, notes], [0, '']);
    assert.match(out, /^Usage: seller-api key COMMAND \[FLAGS\]\n\n {2}key create /);
    assert.match(out, /^ {2}key revoke /m);
    assert.doesNotMatch(out, /^ {2}(?:seller|serve)/m);
  });
}

test('has a guide that lists every command, and no flag that does not exist', async () => {
  const { out } = await run(['completion', 'bash']);
  const known = new Map([...out.matchAll(/^ {4}'([^']+)'\) words='.*' flags='(.+)' ;;$/gm)]
    .map(([, name = '', flags = '']) => [name, flags.split(' ')]));
  assert.deepEqual([...known.keys()].sort(), [...commands.keys()].sort());
  const guide = readFileSync(join(ROOT, 'src/cli/README.md'), 'utf8');
  const listed = [...guide.matchAll(/^\| (`.*?`) \| /gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, usage = '']) => usage));
  const named = listed.flatMap((usage) => {
    const [first = '', second] = usage.split(' ');
    const name = [`${first} ${second}`, first].find((one) => known.has(one));
    if (name === undefined) return [];
    for (const [flag] of usage.matchAll(/--[\w-]+/g)) {
      assert.ok(known.get(name)?.includes(flag), `${name} ${flag}`);
    }
    return [name];
  });
  assert.deepEqual([...new Set(named)].sort(), [...known.keys()].sort());
});

test('explains a command with -h, and with a leading help or --help', async () => {
  const [{ out: long }, ...others] = await Promise.all([
    run(['key', 'list', '--help']), run(['key', 'list', '-h']), run(['help', 'key', 'list']),
    run(['--help', 'key', 'list']), run(['help', '--help', 'key', 'list', '--help']),
  ]);
  assert.match(long, /^Usage: seller-api key list /m);
  for (const { status, out } of others) assert.deepEqual([status, out], [0, long]);
  const [{ out: all }, twice] = await Promise.all([run(['--help']), run(['--help', '--help'])]);
  assert.deepEqual([twice.status, twice.out], [0, all]);
});

test('prints its version and that of Node', async () => {
  const [plain, json] = await Promise.all([run(['--version']), run(['--version', '--json'])]);
  assert.equal(plain.out, `seller-product-api ${VERSION} (Node ${process.version})\n`);
  assert.deepEqual(JSON.parse(json.out), { version: VERSION, node: process.version });
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
  [['sevre', '--port', '1'], /"sevre --port 1" is not a command\. Did you mean "serve"\?/],
  [['selelr'], /Did you mean "seller"\?/],
  [['key', 'lst'], /"key lst" is not a command\. Did you mean "key list"\?/],
  [['kee', 'x'], /Did you mean "key"\?/],
  [['key', 'delete'], /"key delete" is not a command\. Commands: key create, key list, /],
  [['seller', 'list', '--jsn'], /There is no flag --jsn\. Did you mean --json\?/],
  [['help', 'nothing'], /"nothing --help" is not a command/],
  [['constructor'], /"constructor" is not a command/],
  [['toString', 'x'], /"toString x" is not a command/],
  [['--verbose'], /"--verbose" is not a command/],
  [['seller', 'list', '--verbose'], /--verbose/],
  [['seller', 'list', '--json=yes'], /--json/],
  [['seller', 'list', '--data'], /--data/],
  [['serve', 'now'], /"now"/],
];

for (const [args, says] of misunderstood) {
  test(`rejects "${args.join(' ')}" in one line, with exit status 2`, async () => {
    const { status, out, notes } = await run(args);
    assert.match(notes, says);
    assert.match(notes, /^[^\n]+ Run with --help for usage\.\n$/);
    assert.deepEqual([status, out], [2, '']);
  });
}

test('prints one JSON document and a sentence when a command fails with --json', async (t) => {
  const folder = join(makeFolder(t), 'data');
  for (const [args, exitStatus] of [
    [['seller', 'list', '--data', folder], 1], [['key', 'create', '--data', folder], 2],
    [['serve', '--port', 'x'], 2], [['nothing'], 2], [['export'], 2], [['doctor', '--nothing'], 2],
  ] as const) {
    const { status, out, notes } = await run([...args, '--json']);
    assert.equal(status, exitStatus);
    const detail = notes.trimEnd();
    assert.ok(detail.length > 10);
    assert.deepEqual(JSON.parse(out), { error: { detail, exit_status: exitStatus } });
  }
});

const LAUNCHER = join(ROOT, 'src/seller-api.js');
const MAIN = join(ROOT, 'src/main.ts');

test('runs from its launcher, which says in one sentence that Node is too old', () => {
  const launch = (...flags: string[]) =>
    spawnSync(process.execPath, [...flags, LAUNCHER, '--version'], { encoding: 'utf8' });
  assert.deepEqual([launch().status, launch().stdout.includes(VERSION)], [0, true]);
  for (const [version, status] of [['20.20.2', 2], ['24.14.9', 2], ['24.15.0', 0], ['30.0.0', 0]]) {
    const versions = `{ value: { ...process.versions, node: '${version}' } }`;
    const code = `Object.defineProperty(process, 'versions', ${versions})`;
    const old = launch('--import', `data:text/javascript,${encodeURIComponent(code)}`);
    assert.equal(old.status, status, String(version));
    if (status === 2) assert.match(old.stderr, /^Node 24\.15 or newer is needed, [^\n]+\n$/);
  }
});

for (const start of [LAUNCHER, MAIN]) {
  test(`replaces the process of a server by one with its options: ${basename(start)}`, {
    skip: process.platform === 'linux' ? false : 'needs /proc',
  }, (t) => checkServerProcess(t, start));
}

async function checkServerProcess(t: TestContext, start: string): Promise<void> {
  const environment = { ...process.env };
  for (const name of ['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE', 'NODE_V8_COVERAGE']) {
    environment[name] = undefined; // not deleted: Node passes its own value on for coverage
  }
  const flags = ['serve', '--port', '0', '--json', '--data', join(makeFolder(t), 'data')];
  const child = spawn(process.execPath, [start, ...flags], {
    env: environment, stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  assert.equal(JSON.parse(String(line)).pid, child.pid);
  const [, ...words] = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').split('\0');
  assert.deepEqual(words, ['--max-semi-space-size=4', '--disable-sigusr1', start, ...flags, '']);
  const variables = readFileSync(`/proc/${child.pid}/environ`, 'utf8').split('\0');
  assert.ok(variables.includes('MALLOC_ARENA_MAX=1'));
  assert.ok(variables.includes(`NODE_COMPILE_CACHE=${join(ROOT, '.node/compile-cache')}`));
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
}

const { stdout: found = '' } = spawnSync('node', ['--version'], { encoding: 'utf8' });
const isOld = /^v(?:1[68]|2[0-3])\./.test(found);

test('says that Node is too old on an actual old Node', {
  skip: !isOld && 'the node on the PATH is not an old one',
}, () => {
  // The options of this process may be unknown to the old Node.
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { status, stdout, stderr } =
    spawnSync('node', [LAUNCHER, 'serve'], { encoding: 'utf8', env });
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /^Node 24\.15 or newer is needed, and this is v[^\n]+\n$/);
});

test('fails in one line, with exit status 1, if the database is a foreign file', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'catalogue.db'), 'Dear diary');
  for (const args of [['seller', 'list'], ['serve', '--port', '0']]) {
    const { status, out, notes } = await run([...args, '--data', folder]);
    assert.deepEqual([status, out], [1, '']);
    assert.match(notes, /^[^\n]*catalogue\.db is not a database of this server[^\n]*\n$/);
  }
});

test('reads the folder from SELLER_API_DATA unless the flag is given', async (t) => {
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
  const full = openSync(FULL, constants.O_WRONLY); // without a flag that creates a missing file
  const main = join(import.meta.dirname, '../src/main.ts');
  const { status, stderr } = spawnSync(process.execPath, [main, '--help'], {
    stdio: ['ignore', full, 'pipe'], encoding: 'utf8',
  });
  closeSync(full);
  assert.equal(stderr, 'Standard output cannot be written: ENOSPC\n');
  assert.equal(status, 1);
});
