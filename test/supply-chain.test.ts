/** What is handed on: the package, which anybody can make again, and the lists of what is in it. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync, cpSync, globSync, mkdirSync, readFileSync, statSync, utimesSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from './support/folder.ts';

const ROOT = join(import.meta.dirname, '..');
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const FILES = [
  'package.json', 'package-lock.json', '.npmrc', 'Makefile', 'LICENSE', ...MANIFEST.files,
] as string[];
const isMissing = ['make', 'npm', 'tar'].some((tool) => spawnSync(tool, ['--version']).error);
const options = { skip: isMissing && 'needs make, npm and tar', timeout: 120_000 };

/** A clone as `git` makes it; packing and listing have to do without its history. */
function copyClone(folder: string, files = FILES): string {
  mkdirSync(folder);
  for (const file of files) {
    cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  }
  return folder;
}

/** Runs a target; npm has no network, an empty cache and no settings of a user. */
function make(clone: string, target: string, umask = '022'): string {
  const line = `umask ${umask}; exec make -s ${target} NODE="$0"`;
  const home = join(clone, '..', 'home');
  return execFileSync('sh', ['-c', line, process.execPath], {
    cwd: clone, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: home, npm_config_offline: 'true' },
  });
}

function pack(clone: string, umask?: string): string {
  return join(clone, make(clone, 'pack', umask).trim());
}

test('packs the same bytes in another folder, at another time, with other modes', options, (t) => {
  const folder = makeFolder(t);
  const clone = copyClone(join(folder, 'clone'));
  const other = copyClone(join(folder, 'another name'), FILES.toReversed());
  for (const path of globSync('**', { cwd: other })) {
    const file = join(other, path);
    const isOpen = statSync(file).isDirectory()
      || ['main.ts', 'seller-api.js'].includes(basename(file));
    chmodSync(file, isOpen ? 0o700 : 0o600);
    utimesSync(file, 981_173_106, 981_173_106);
  }
  const [first, second] = [pack(clone), pack(other, '077')].map((path) =>
    createHash('sha512').update(readFileSync(path)).digest('hex'));
  assert.equal(second, first);
});

test('packs the sources and what describes them, and they run where they are unpacked', options,
  (t) => {
    const folder = makeFolder(t);
    const file = pack(copyClone(join(folder, 'clone')));
    const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trim().split('\n');
    const others = names.filter((name) => !name.startsWith('package/src/'));
    assert.deepEqual(others.sort(), [
      'CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'data/sample-catalogue.csv',
      'package.json',
    ].map((name) => `package/${name}`));
    const sources = globSync('src/**/*.*', { cwd: ROOT }).length;
    assert.equal(names.length - others.length, sources);
    execFileSync('tar', ['-xzf', file, '-C', folder]);
    const line = ['src/main.ts', 'seller', 'create', 'A shop', '--data', join(folder, 'data')];
    const made = execFileSync(process.execPath, [...line, '--json'], {
      cwd: join(folder, 'package'), encoding: 'utf8',
    });
    assert.match(made, /"sel_/);
  });

test('lists no package that runs, and each one of development with its hash', options, (t) => {
  const clone = copyClone(join(makeFolder(t), 'clone'));
  const runs = JSON.parse(make(clone, 'sbom'));
  assert.equal(runs.bomFormat, 'CycloneDX');
  const { name, version } = runs.metadata.component;
  assert.deepEqual([name, version], [MANIFEST.name, MANIFEST.version]);
  assert.deepEqual(runs.components, []);
  const text = make(clone, 'sbom-dev');
  const { components } = JSON.parse(text);
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const locked = Object.entries<{ version: string }>(lock.packages).filter(([path]) => path !== '')
    .map(([path, one]) => `${path.replace(/^.*node_modules\//, '')}@${one.version}`);
  const listed = components.map((component: Record<string, string>) => component['bom-ref']);
  assert.deepEqual(listed.sort(), [...new Set(locked)].sort());
  for (const component of components) {
    assert.equal(component.hashes[0].alg, 'SHA-512', component.name);
    assert.equal(component.properties[0].name, 'cdx:npm:package:development', component.name);
  }
  // No address of a registry, and nothing of this machine.
  const addresses = text.match(/https?:[^"]*/g);
  assert.deepEqual(addresses, ['http://cyclonedx.org/schema/bom-1.5.schema.json']);
  assert.ok(!text.includes(clone) && !text.includes(process.env['HOME'] ?? '/home'));
});
