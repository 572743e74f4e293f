/** The npm package: `make pack`, installed in an empty project, and used as its users do. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync,
  symlinkSync, utimesSync, writeFileSync,
} from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { watchServing } from '../support/command.ts';
import { readExamples, writeExamples } from '../support/examples.ts';
import { checkConsumer } from './check-consumer.ts';
import { copyClone, FILES, MANIFEST, pack, ROOT, runOffline } from './clone.ts';
import { listUndocumented } from './undocumented.ts';

const isMissing = ['make', 'npm', 'tar'].some((tool) => spawnSync(tool, ['--version']).error)
  || !existsSync(join(ROOT, 'node_modules/typescript'));
/** The files that modules read, and the scripts of threads: each is a module. */
const TEXTS = [
  'domain/access/common-passwords.txt', 'features/portal/assets',
  'features/portal/imports/sample-catalogue.csv',
  ...globSync('store/*/schema/*.sql', { cwd: join(ROOT, 'src') }),
  'store/sqlite/engine/writer-thread', 'store/sqlite/search/search-thread',
];
const OLD_NODE = `data:text/javascript,${encodeURIComponent(`
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.20.0' } });
  Object.defineProperty(process, 'version', { value: 'v22.20.0' });`)}`;

describe('the package', {
  skip: isMissing && 'needs make, npm, tar and the development packages',
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-package-'));
  /** An empty project in which the package is installed. */
  const project = join(folder, 'project');
  const installed = join(project, 'node_modules', MANIFEST.name);
  const bin = join(project, 'node_modules/.bin/seller-api');
  let archives: readonly string[] = [];

  before(async () => {
    archives = await Promise.all([pack(copyClone(join(folder, 'clone'))), packOtherwise(folder)]);
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{}');
    await runOffline(project, 'npm', ['install', archives[0] ?? '']);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('has the same bytes in another folder, at another time, with other modes', () => {
    const [first, second] = archives.map((path) =>
      createHash('sha512').update(readFileSync(path)).digest('hex'));
    assert.equal(second, first);
  });

  test('has only the build, the source and the documents', () => {
    const names = globSync('**/*.*', { cwd: installed }).sort();
    const sources = globSync('src/**/*.*', { cwd: ROOT }).sort();
    assert.deepEqual(names.filter((name) => name.startsWith('src/')), sources);
    const modules = sources.filter((name) => /\.[jt]s$/.test(name) && !name.includes('/assets/'));
    const built = modules.flatMap((name) => {
      const path = name.replace('src/', 'dist/').replace(/\.ts$/, '.js');
      return name.endsWith('.ts') ? [path, `${path}.map`] : [path];
    });
    built.push(...TEXTS.map((name) => `dist/${name}.text.js`));
    const others = names.filter((name) => !name.startsWith('src/'));
    assert.deepEqual(others.filter((name) => !/\.d\.ts(?:\.map)?$/.test(name)), [
      ...['CHANGELOG.md', 'README.md', 'SECURITY.md'], 'data/sample-catalogue.csv', ...built,
      'package.json',
    ].sort());
    assert.ok(existsSync(join(installed, 'LICENSE')));
  });

  test('has no secret, no registry URL and no path of this machine', () => {
    const forbidden = new RegExp([
      'PRIVATE KEY-----\n', 'npm_\\w{36}', '_authToken', 'https?://registry\\.', ROOT, folder,
    ].join('|'));
    for (const name of globSync('**/*.*', { cwd: installed })) {
      assert.doesNotMatch(readFileSync(join(installed, name), 'utf8'), forbidden, name);
    }
  });

  test('depends on nothing, and runs nothing on installation', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    assert.deepEqual(Object.keys(manifest).sort(), [
      'bin', 'description', 'engines', 'exports', 'files', 'license', 'name', 'type', 'version',
    ]);
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    assert.deepEqual(Object.keys(lock.packages), ['', `node_modules/${MANIFEST.name}`]);
  });

  test('maps the build and the declarations to the source', () => {
    const read = (name: string): string => readFileSync(join(installed, name), 'utf8');
    const program = `import { createShop } from '${MANIFEST.name}'; await createShop({});`;
    const { stderr } = spawnSync(process.execPath, [
      '--enable-source-maps', '--input-type=module', '--eval', program,
    ], { cwd: project, encoding: 'utf8' });
    const [, thrown] = /src[/\\]embed[/\\]shop-options\.ts:(\d+)/.exec(stderr)
      ?? assert.fail(stderr);
    const lines = read('src/embed/shop-options.ts').split('\n');
    assert.match(lines[Number(thrown) - 1] ?? '', /throw wrongArgument/);
    for (const name of globSync('dist/**/*.d.ts', { cwd: installed })) {
      const map = JSON.parse(read(`${name}.map`));
      assert.equal(map.sources.length, 1, name);
      const source = read(join(dirname(name), map.sources[0])).split('\n');
      read(name).split('\n').forEach((line, index) => {
        const [, start = '', declared = ''] =
          /^(export (?:declare )?(?:class|const|function|interface|type) )(\w+)/.exec(line) ?? [];
        if (declared === '') return;
        const entry = new SourceMap(map).findEntry(index, start.length);
        const original = 'originalLine' in entry ? source[entry.originalLine] ?? '' : '';
        assert.ok(original.includes(declared), `${name}: ${declared}`);
      });
    }
  });

  test('has no type error for its users, with any module resolution', () => {
    const modules = join(project, 'node_modules');
    symlinkSync(join(ROOT, 'node_modules/@types'), join(modules, '@types'));
    const reports = checkConsumer(project, join(ROOT, 'node_modules/typescript/bin/tsc'));
    assert.deepEqual([...new Set(Object.values(reports))], [''], JSON.stringify(reports));
  });

  test('describes every name and member that it promises', () => {
    assert.deepEqual(listUndocumented(installed), []);
  });

  test('has examples without a type error', () => {
    const examples = readExamples();
    assert.ok(examples.length > 50, String(examples.length));
    writeFileSync(join(project, 'examples.mts'), writeExamples(examples, (name) => name));
    const { stdout } = spawnSync(process.execPath, [
      join(ROOT, 'node_modules/typescript/bin/tsc'), '--ignoreConfig', '--noEmit', '--strict',
      '--module', 'nodenext', '--target', 'esnext', '--types', 'node', 'examples.mts',
    ], { cwd: project, encoding: 'utf8' });
    assert.equal(stdout, '');
  });

  test('exports what the checked-in list of its public API says, and no internals', () => {
    const surface = run(join(ROOT, '.toolchain/api-surface.ts'), installed);
    const listed = readFileSync(join(ROOT, 'test/package/api-surface.txt'), 'utf8');
    assert.deepEqual(surface.split('\n'), listed.split('\n'),
      'make -s api-surface > test/package/api-surface.txt, if the change is meant');
    const internal = /\b(?!Shop|open)\w+Store\b|session|totp|password(?!File)|hash|fold(?!er)/gi;
    assert.deepEqual(surface.match(internal), null);
  });

  test('is imported, and required by CommonJS', () => {
    const entries = ['', '/client', '/webhooks'].map((path) => MANIFEST.name + path);
    const names = entries.map((entry) => run('--input-type=module', '--eval',
      `import * as names from '${entry}'; console.log(Object.keys(names).sort());`));
    assert.match(names[0] ?? '', /'createShop'/);
    assert.match(names[1] ?? '', /'SellerClient'/);
    assert.match(names[2] ?? '', /'verifyWebhook'/);
    entries.forEach((entry, index) => assert.equal(run('--input-type=commonjs', '--eval',
      `console.log(Object.keys(require('${entry}')).sort());`), names[index]));
  });

  test('embeds a shop, which writes and searches in worker threads', () => {
    const out = run('--input-type=module', '--eval', `
      import { createShop } from '${MANIFEST.name}';
      const shop = await createShop({ folder: 'embedded' }, {
        baseUrl: 'https://shop.example', portal: true, webhooks: true,
      });
      const { id } = await shop.sellers.create({ name: 'My shop' });
      const { products } = shop.as(id);
      await products.create({ name: 'Mug', category: 'Kitchen', sku: 'M-1', price: 1, stock: 2 });
      for await (const { sku } of products.list({ q: 'mug' })) console.log(sku);
      const page = new Request('https://shop.example/portal/sign-in');
      console.log((await shop.fetch(page)).status);
      await shop.close();`);
    assert.equal(out, 'M-1\n200\n');
  });

  test('runs the command line: its version, its help, and a server that backs up', async (t) => {
    const version = `${MANIFEST.name} ${MANIFEST.version} (Node ${process.version})\n`;
    assert.equal(run(bin, '--version'), version);
    assert.match(run(bin, '--help'), /serve +Serves the API/);
    const backups = join(folder, 'backups');
    mkdirSync(backups);
    const child = spawn(process.execPath, [
      bin, 'serve', '--json', '--port', '0', '--data', join(folder, 'data'),
      '--backup-folder', backups,
    ], { stdio: ['ignore', 'pipe', 'pipe'] });
    const serving = await watchServing(t, child);
    assert.equal((await fetch(`${serving.url}/healthz`)).status, 200);
    assert.equal((await fetch(`${serving.url}/api/v1/products`)).status, 401);
    await serving.waitForNote(/backup/i);
    assert.equal(await serving.stop('SIGTERM'), 0);
    assert.equal(globSync('*', { cwd: backups }).length, 1);
  });

  test('says in one sentence that an older Node is too old', () => {
    const old = spawnSync(process.execPath, ['--import', OLD_NODE, bin, '--version'], {
      encoding: 'utf8',
    });
    assert.deepEqual([old.status, old.stdout], [2, '']);
    assert.match(old.stderr, /^Node 24\.15 or newer is needed, and this is v22\.20\.0\..*\n$/);
  });

  function run(...args: readonly string[]): string {
    return execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
  }
});

/** Packs a clone with other times and modes, in a folder with another name. */
async function packOtherwise(folder: string): Promise<string> {
  const clone = copyClone(join(folder, 'another name'), FILES.toReversed());
  for (const path of globSync('**', { cwd: clone })) {
    const file = join(clone, path);
    const isOpen = statSync(file).isDirectory()
      || ['main.ts', 'seller-api.js'].includes(basename(file));
    chmodSync(file, isOpen ? 0o700 : 0o600);
    utimesSync(file, 981_173_106, 981_173_106);
  }
  return pack(clone, '077');
}
