/**
 * The single executable: `make executable`, run in folders that have neither Node nor the source,
 * and by the tests of the command line.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { loadAssets } from '../../src/features/portal/assets.ts';
import { copyClone, make, MANIFEST, pack, ROOT } from '../package/clone.ts';
import { watchServing } from '../support/command.ts';
import { runFiles } from '../support/runner/run-files.ts';

const GUIDE = readFileSync(join(ROOT, 'src/cli/serve/README.md'), 'utf8');
const BUILD = join(ROOT, '.toolchain/build-executable.ts');
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isOld = major < 26 || (major === 26 && minor < 10);
const OLD_NODE = `data:text/javascript,${encodeURIComponent(`
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '26.9.0' } });
  Object.defineProperty(process, 'version', { value: 'v26.9.0' });`)}`;

describe('the executable', { skip: isOld && 'needs Node 26.10 to be built' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-executable-'));
  const clone = join(folder, 'clone');
  /** The only file in its folder. */
  const program = join(folder, 'alone', 'seller-api');
  const data = join(folder, 'data');
  /** A PATH without any other program. */
  const environment = { PATH: join(folder, 'alone') };

  before(async () => {
    mkdirSync(join(folder, 'alone'));
    const printed = await make(copyClone(clone), 'executable');
    assert.equal(printed, `${MANIFEST.name} ${MANIFEST.version} (Node ${process.version})\n`);
    copyFileSync(join(clone, 'seller-api'), program);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function run(...args: readonly string[]): string {
    return execFileSync(program, args, { cwd: '/', env: environment, encoding: 'utf8' });
  }

  test('has the same bytes in another folder, with other modes', async () => {
    const other = copyClone(join(folder, 'another name'));
    await make(other, 'executable', '077');
    assert.equal(digest(readFileSync(join(other, 'seller-api'))), digest(readFileSync(program)));
  });

  test('has the runtime files of the package, and no path of the build machine', async () => {
    const [, line = ''] = /<!-- example: list -->\n```sh\n(.*?)```/s.exec(GUIDE) ?? [];
    const listed = execFileSync('/bin/sh', ['-c', line], {
      cwd: join(folder, 'alone'), env: environment, encoding: 'utf8',
    });
    const unpacked = join(folder, 'package');
    execFileSync('tar', ['-xzf', await pack(clone), '-C', folder]);
    const files = globSync(['package.json', '{data,dist}/**/*.{js,json,sql,css,svg,txt,csv}'], {
      cwd: unpacked,
    });
    assert.ok(files.length > 200);
    const expected = files.map((file) => `${digest(readFileSync(join(unpacked, file)))}  ${file}`);
    assert.deepEqual(listed.trim().split('\n').sort(), expected.sort());
    const bytes = readFileSync(program);
    for (const path of [ROOT, folder]) assert.equal(bytes.indexOf(path), -1, path);
  });

  test('serves, and creates backups, from a folder that has nothing else', async (t) => {
    const backups = join(folder, 'backups');
    mkdirSync(backups);
    const child = spawn('./seller-api', [
      'serve', '--json', '--port', '0', '--metrics-port', '0', '--data', data,
      '--backup-folder', backups, '--backup-every', '1s',
    ], { cwd: join(folder, 'alone'), env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    const serving = await watchServing(t, child);
    await serving.waitForNote(/^ {2}KEY=\$\(\.\/seller-api key create /m);
    assert.match(readFileSync(`/proc/${child.pid}/environ`, 'utf8'), /\bMALLOC_ARENA_MAX=1\0/);

    run('seller', 'create', 'My shop', '--data', data);
    const key = run('key', 'create', '--name', 'test', '--data', data).trim();
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const products = `${serving.url}/api/v1/products`;
    const body = JSON.stringify({
      name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40,
    });
    assert.equal((await fetch(products, { method: 'POST', headers, body })).status, 201);
    const found = await (await fetch(`${products}?q=mug`, { headers })).text(); // another thread
    assert.match(found, /"sku":"MUG-1"/);

    const page = await (await fetch(`${serving.url}/portal/join`)).text();
    const assets = [...page.matchAll(/(?:href|src)="(\/portal\/assets\/[^"]+)"/g)];
    assert.ok(assets.length >= 3, page);
    for (const [, path = ''] of assets) {
      const served = loadAssets().answer(basename(dirname(path)), basename(path)); // by its hash
      assert.equal(await (await fetch(serving.url + path)).text(), served.body);
    }
    const [, metrics = ''] = await serving.waitForNote(/^Metrics on (\S+)$/m);
    assert.match(await (await fetch(metrics)).text(), /build_info\{version="0\.1\.0",node="v/);
    await serving.waitForNote(/^Backed up to .*\.db/m);
    assert.equal(await serving.stop('SIGTERM'), 0);
    assert.ok(readdirSync(backups).length > 0);
    assert.match(run('doctor', '--data', data), /No problems found\./);
    assert.deepEqual(readdirSync(join(folder, 'alone')), ['seller-api']); // and wrote nothing there
  });

  // Those of what depends on how the program is packed: its modules, files, threads and signals,
  // and how it starts itself. The other commands need nothing more of the executable.
  test('passes the tests of the command line', { timeout: 900_000 }, async () => {
    const files = globSync([
      'test/main.test.ts', 'test/cli/admin/doctor.test.ts', 'test/cli/backup/backup.test.ts',
      'test/cli/serve/{serve-portal,serve-stop,serve-tls,demo,first-steps}.test.ts',
    ], { cwd: ROOT }).map((path) => join(ROOT, path));
    let output = '';
    const { tests, failures } = await runFiles(files, {
      jobs: 4, testTimeoutMs: 180_000, isAlone: false, print: (text) => { output += text; },
      environment: { TEST_EXECUTABLE: program },
    });
    assert.deepEqual(failures, [], output);
    assert.ok(tests.length > 70, `only ${tests.length} tests`);
  });

  test('says in one line which Node can build it', () => {
    const args = ['--import', OLD_NODE, BUILD, clone, program];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(stderr, /^Only Node 26\.10 or newer can build .* this is v26\.9\.0\. .*\n$/);
  });
});

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
