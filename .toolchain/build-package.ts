/**
 * Turns a copy of the project into the package: `dist/` has the JavaScript, the declarations of the
 * three entries and the maps to `src/`; `package.json` points to it. Node strips no types below
 * `node_modules`, and a clone needs no build, so only the package's `package.json` says `dist`.
 *
 * Usage: node build-package.ts FOLDER
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepPublicDeclarations } from './declarations.ts';
import { embedAssets } from './embed-assets.ts';

const [folder = ''] = process.argv.slice(2);
const MODULES = join(import.meta.dirname, '../node_modules');
const COMPILER = join(MODULES, 'typescript/bin/tsc');
const FLAGS = [
  // Node 20 can parse this, and say that it is too old (see src/embed/supported-node.ts).
  '--target', 'es2024',
  '--noEmit', 'false', '--rootDir', 'src', '--outDir', 'dist', '--sourceMap',
  '--rewriteRelativeImportExtensions', '--declaration', '--declarationMap', '--stripInternal',
];
const LAUNCHER = 'seller-api.js';
/** What the compiler puts before its helpers. Modules have no `this`, so bundlers warn about it. */
const GLOBAL_HELPER = /\(this && this\.__\w+\) \|\| /g;
/** Files that are JavaScript already. */
const SCRIPTS = [LAUNCHER, 'node-version.js', 'server-process.js'];

const manifest = JSON.parse(read('package.json'));
const problems = compile();
const kept = keepPublicDeclarations(
  folder, Object.values<string>(manifest.exports).map(declarationOf));
// The compiler cannot declare all internals, but nothing refers to those declarations.
const serious = problems.filter(({ path, isDeclaration }) =>
  !isDeclaration || kept.includes(declarationOf(path)));
if (serious.length > 0) {
  process.stderr.write(serious.map(({ text }) => `${text}\n`).join(''));
  process.exit(1);
}
for (const path of globSync('dist/**/*.js', { cwd: folder })) {
  write(path, read(path).replaceAll(GLOBAL_HELPER, ''));
}
for (const script of SCRIPTS) {
  write(`dist/${script}`, read(`src/${script}`).replaceAll(/\.ts\b/g, '.js'));
}
embedAssets(folder, Object.values<string>(manifest.exports).map(moduleOf));
write('package.json', `${JSON.stringify(describePackage(), null, 2)}\n`);

/** Compiles all of `src`, and returns what the compiler reports. */
function compile() {
  symlinkSync(MODULES, join(folder, 'node_modules'));
  const { stdout } = spawnSync(process.execPath, [COMPILER, '--project', '.', ...FLAGS], {
    cwd: folder, encoding: 'utf8',
  });
  rmSync(join(folder, 'node_modules'));
  rmSync(join(folder, 'tsconfig.json'));
  return stdout.split('\n').filter(Boolean).map((text) => ({
    text, path: text.split('(')[0] ?? '', isDeclaration: /: error TS4\d\d\d:/.test(text),
  }));
}

function describePackage() {
  const { devDependencies, ...rest } = manifest;
  const exports = Object.entries<string>(manifest.exports).map(([entry, path]) => [entry, {
    types: `./${declarationOf(path)}`, default: `./${moduleOf(path)}`,
  }]);
  return {
    ...rest, exports: Object.fromEntries(exports), bin: { 'seller-api': `dist/${LAUNCHER}` },
    files: ['dist', ...manifest.files],
  };
}

function inDist(path: string): string {
  return path.replace(/^(?:\.\/)?src\//, 'dist/');
}

function moduleOf(path: string): string {
  return inDist(path).replace(/\.ts$/, '.js');
}

function declarationOf(path: string): string {
  return inDist(path).replace(/\.ts$/, '.d.ts');
}

function read(path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

function write(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
}
