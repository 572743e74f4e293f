/** The rules of the source that a machine can check. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const FUNCTION_LINES_LIMIT = 60;
const LINE_LENGTH_LIMIT = 100;

/** The rooms of `src`, each with the rooms that it may import besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  domain: ['runtime'],
  http: ['runtime', 'domain'],
  transfer: ['runtime', 'domain', 'http'],
  store: ['runtime', 'domain'],
  api: ['runtime', 'domain', 'http', 'transfer', 'store'],
  features: ['runtime', 'domain', 'http', 'transfer', 'store', 'api', 'feature.ts'],
  'feature.ts': ['runtime', 'http', 'store', 'api'],
  'app-context.ts': ['domain', 'http', 'store', 'api', 'feature.ts'],
  'app.ts': ['app-context.ts', 'domain', 'http', 'api', 'feature.ts'],
  'features.ts': ['app-context.ts', 'app.ts', 'feature.ts', 'features'],
  cli: [
    'runtime', 'domain', 'http', 'transfer', 'store', 'api', 'features', 'app.ts', 'feature.ts',
    'features.ts',
  ],
  'index.ts': ['app.ts', 'domain', 'http', 'store', 'features', 'features.ts'],
  'main.ts': ['cli', 'domain'],
};

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly imports: readonly { readonly names: readonly string[]; readonly from: string }[];
}

const sources = load('src/**/*.ts');
const tests = load('test/**/*.ts');

test('keeps files, functions and lines short', () => {
  const faults: string[] = [];
  for (const file of [...sources, ...tests]) {
    const limit = file.path.startsWith('src') ? 300 : 400;
    if (file.lines.length > limit) faults.push(`${file.path}: ${file.lines.length} lines`);
    file.lines.forEach((line, index) => {
      if (line.length > LINE_LENGTH_LIMIT) faults.push(`${file.path}:${index + 1}: long line`);
    });
    faults.push(...findLongFunctions(file));
  }
  assert.deepEqual(faults, []);
});

test('imports only from Node and from itself', () => {
  const foreign = [...sources, ...tests].flatMap(({ path, imports }) =>
    imports.filter(({ from }) => !/^(node:|\.)/.test(from)).map(({ from }) => `${path}: ${from}`));
  assert.deepEqual(foreign, []);
});

test('imports inward only', () => {
  const faults: string[] = [];
  for (const file of sources) {
    const part = partOf(file.path);
    const allowed = MAY_IMPORT[part];
    assert.ok(allowed, `${file.path} is in no part that has a rule`);
    for (const target of targetsOf(file)) {
      const other = partOf(target);
      if (other !== part && !allowed.includes(other)) faults.push(`${file.path} -> ${target}`);
    }
  }
  assert.deepEqual(faults, []);
});

test('imports no feature but from itself, the portal and the composition', () => {
  const faults = sources.flatMap((file) => targetsOf(file)
    .filter((target) => target.startsWith('src/features/'))
    .filter((target) => !mayImportFeature(file.path, target.split('/')[2] ?? ''))
    .map((target) => `${file.path} -> ${target}`));
  assert.deepEqual(faults, []);
});

test('names no product, SKU or stock in the code of http', () => {
  const faults = sources.filter(({ path }) => path.startsWith('src/http/'))
    .flatMap(({ path, text }) => [...withoutComments(text)
      .replaceAll('seller-product-api', '') // the name of this project
      .matchAll(/\w*(?:product|sku|stock)\w*/gi)].map(([word]) => `${path}: ${word}`));
  assert.deepEqual(faults, []);
});

test('has no circle of imports', () => {
  const targets = new Map(sources.map((file) => [file.path, targetsOf(file)]));
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    assert.ok(!way.includes(path), `circle: ${[...way, path].join(' -> ')}`);
    if (done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...way, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  assert.equal(done.size, sources.length);
});

test('exports nothing that nobody imports, and has no file that nothing leads to', () => {
  const imported = new Set(sources.flatMap((file) => file.imports.flatMap(({ names, from }) =>
    names.map((name) => `${resolve(file.path, from)} ${name}`))));
  const unused = sources.filter(({ path }) => path !== 'src/index.ts').flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?(?:const|function|class|type|interface) (\w+)/gm)]
      .map(([, name]) => `${path} ${name}`).filter((name) => !imported.has(name)));
  assert.deepEqual(unused, []);
  const reached = new Set(sources.flatMap(targetsOf));
  const entries = ['src/main.ts', 'src/index.ts', 'src/store/sqlite/engine/writer-thread.ts',
    'src/store/sqlite/search/search-thread.ts'];
  const lost = sources.map(({ path }) => path).filter((path) => !reached.has(path));
  assert.deepEqual(lost.sort(), entries.filter((path) => lost.includes(path)).sort());
});

test('says what each file is for in its first lines', () => {
  const bare = [...sources, ...tests].filter(({ text }) => !/^(#!.*\n)?\/\*\*/.test(text));
  assert.deepEqual(bare.map(({ path }) => path), []);
});

test('needs no package to run and no install script to develop', () => {
  const manifest = JSON.parse(read('package.json'));
  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.scripts, undefined);
  const packages = Object.keys(manifest.devDependencies);
  assert.deepEqual(packages, ['@types/node', 'c8', 'tsx', 'typescript']);
  const locks = globSync(['package-lock.json', '.toolchain/*/package-lock.json'], { cwd: ROOT });
  assert.equal(locks.length, 3);
  for (const path of locks) {
    assert.doesNotMatch(read(path), /"resolved"|https?:\/\/registry/, path);
    assert.match(read(path), /"integrity": "sha512-/, path);
  }
});

/** As far as comments stand alone or end a line, which a string with `//` in it does not. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(?:^| )\/\/ .*$/gm, '');
}

function load(pattern: string): SourceFile[] {
  return globSync(pattern, { cwd: ROOT }).sort().map((path) => {
    const text = read(path);
    return { path, text, lines: text.trimEnd().split('\n'), imports: [...findImports(text)] };
  });
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function* findImports(text: string): Generator<SourceFile['imports'][number]> {
  const statement = /^(?:import|export) (?:type )?(?:[^{}']*(?:\{([^}]*)\})? from )?'([^']+)';/gm;
  for (const [, braces = '', from = ''] of text.matchAll(statement)) {
    const names = braces.split(',').map((name) => name.trim().replace(/^type /, ''));
    yield { names: names.filter(Boolean), from };
  }
  for (const [, from = '', name = ''] of text.matchAll(/import\('([^']+)'\)\)\.(\w+)/g)) {
    yield { names: [name], from };
  }
}

function resolve(path: string, from: string): string {
  return normalize(join(dirname(path), from));
}

function targetsOf(file: SourceFile): string[] {
  const own = file.imports.filter(({ from }) => from.startsWith('.'));
  return own.map(({ from }) => resolve(file.path, from));
}

function partOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function mayImportFeature(path: string, feature: string): boolean {
  const [, room, own, part] = path.split('/');
  if (room !== 'features') return room === 'features.ts' || room === 'index.ts';
  // The pages of the portal that show a feature are in the folder of its name.
  return own === feature || (own === 'portal' && part === feature);
}

/** A function begins with a line that ends in `{` and ends where the indentation comes back. */
function findLongFunctions({ path, lines }: SourceFile): string[] {
  const opening = /^( *)(?:export )?(?:async |static )*(?:function\b|#?\w+\(.*\).*\{$)/;
  const statement = /^ *(?:if|for|while|switch|return|describe)\b/;
  return lines.flatMap((line, start) => {
    const indentation = statement.test(line) ? undefined : opening.exec(line)?.[1];
    if (indentation === undefined) return [];
    const rest = lines.slice(start);
    const length = rest.findIndex((later) => later.startsWith(`${indentation}}`)) + 1;
    return length > FUNCTION_LINES_LIMIT ? [`${path}:${start + 1}: function of ${length}`] : [];
  });
}
