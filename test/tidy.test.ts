/** The source rules that can be checked automatically. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { COMPOSITION } from '../.toolchain/composition.ts';
import { measureFunctions } from './audit/complexity.ts';
import { measureCore, readCoreList, standsFor } from './audit/core-list.ts';
import { findModules, loadSources } from './audit/places.ts';

const ROOT = join(import.meta.dirname, '..');
const FILE_LINES_LIMIT = 400;
const FUNCTION_LINES_LIMIT = 60;
const LINE_LENGTH_LIMIT = 100;
const FUNCTION_COMPLEXITY_LIMIT = 15;
const FOLDER_FILES_LIMIT = 25;
const SMALL_FILE_LINES = 40;

/** The files that open the store and read from it. */
const STORE_ADAPTER = ['src/store/sqlite/store.ts', 'src/store/sqlite/engine/reader.ts'];

/** Files that start a program or a thread, or that other programs import. */
const ENTRIES = [
  'src/seller-api.js', 'src/server-process.js', 'src/main.ts', 'src/index.ts',
  'src/client/index.ts', 'src/client/verify-webhook.ts',
  'src/store/sqlite/engine/writer-thread.ts',
  'src/store/sqlite/search/search-thread.ts',
];

/** The layers of `src`, each with the layers that it may import in addition to itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  domain: ['runtime'],
  http: ['runtime', 'domain'],
  transfer: ['runtime', 'domain', 'http'],
  store: ['runtime', 'domain'],
  api: ['runtime', 'domain', 'http', 'transfer', 'store'],
  features: ['runtime', 'domain', 'http', 'transfer', 'store', 'api', 'feature.ts'],
  'feature.ts': ['runtime', 'domain', 'http', 'store', 'api'],
  'app-context.ts': ['domain', 'http', 'store', 'api', 'feature.ts'],
  'app.ts': ['app-context.ts', 'http-api-request.ts', 'domain', 'http', 'api', 'feature.ts'],
  'http-api-request.ts': ['domain', 'http', 'api'],
  client: ['runtime', 'domain', 'store'],
  embed: [
    'app-context.ts', 'client', 'runtime', 'domain', 'http', 'api', 'store', 'features.ts',
    'node-version.js',
  ],
  'features.ts': ['app-context.ts', 'app.ts', 'feature.ts', 'features'],
  cli: [
    'runtime', 'domain', 'http', 'transfer', 'store', 'api', 'client', 'embed', 'features',
    'app.ts', 'feature.ts', 'features.ts',
  ],
  'index.ts': ['client', 'domain', 'embed', 'http'],
  'main.ts': ['cli', 'server-process.js'],
  'seller-api.js': ['main.ts', 'node-version.js', 'server-process.js'],
  'node-version.js': [],
  'server-process.js': [],
};

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly imports: readonly { readonly names: readonly string[]; readonly from: string }[];
}

const sources = load(['src/**/*.ts', 'src/*.js']);
const tests = load(['test/**/*.ts', '.toolchain/*.ts']);

test('keeps files, functions and lines short', () => {
  const problems: string[] = [];
  for (const file of [...sources, ...tests]) {
    if (file.lines.length > FILE_LINES_LIMIT) problems.push(`${file.path}: too many lines`);
    file.lines.forEach((line, index) => {
      if (line.length > LINE_LENGTH_LIMIT) problems.push(`${file.path}:${index + 1}: long line`);
    });
    problems.push(...findLongFunctions(file));
  }
  assert.deepEqual(problems, []);
});

test('keeps functions of the source simple', () => {
  const functions = measureFunctions(ROOT, 'src');
  assert.ok(functions.length > 4_000, String(functions.length));
  assert.ok(functions.some(({ complexity }) => complexity === FUNCTION_COMPLEXITY_LIMIT));
  assert.deepEqual(
    functions.filter(({ complexity }) => complexity > FUNCTION_COMPLEXITY_LIMIT), [],
  );
});

test('keeps few files in a folder of the source', () => {
  const folders = Map.groupBy(globSync('src/**/*.*', { cwd: ROOT }).sort(), dirname);
  const crowded = [...folders].filter(([, inside]) => inside.length > FOLDER_FILES_LIMIT)
    .map(([folder]) => folder);
  assert.deepEqual(crowded, []);
});

test('has small files only if another folder imports them', () => {
  const others = [...ENTRIES, ...COMPOSITION.map(({ path }) => path)];
  const small = sources.filter(({ path, lines }) => lines.length < SMALL_FILE_LINES
    && !path.endsWith('/limits.ts') && !others.includes(path));
  const fragments = small.map(({ path }) => path).filter((path) => sources.every((file) =>
    dirname(file.path) === dirname(path) || !targetsOf(file).includes(path)));
  assert.deepEqual(fragments, []);
});

test('imports only from Node and from itself', () => {
  const foreign = [...sources, ...tests].flatMap(({ path, imports }) =>
    imports.filter(({ from }) => !/^(?:node:|\.)/.test(from) && !isCompiler(path, from))
      .map(({ from }) => `${path}: ${from}`));
  assert.deepEqual(foreign, []);
});

function isCompiler(path: string, from: string): boolean {
  return path.startsWith('test/') && from.startsWith('typescript/');
}

test('imports only types from node:http, which would load fetch and WebSocket', () => {
  const loads = sources.filter((file) =>
    findModules(file).some(({ module }) => module === 'http')
    || file.text.includes("getBuiltinModule('node:http')"));
  assert.deepEqual(loads.map(({ path }) => path), ['src/runtime/node-http.ts']);
});

test('imports inward only', () => {
  const problems: string[] = [];
  for (const file of sources) {
    const layer = layerOf(file.path);
    const allowed = MAY_IMPORT[layer];
    assert.ok(allowed, `${file.path} is in no layer that has a rule`);
    for (const target of targetsOf(file)) {
      const other = layerOf(target);
      if (other !== layer && !allowed.includes(other)) problems.push(`${file.path} -> ${target}`);
    }
  }
  assert.deepEqual(problems, []);
});

test('imports no feature but from itself, the portal and the composition', () => {
  const problems = sources.flatMap((file) => targetsOf(file)
    .filter((target) => target.startsWith('src/features/'))
    .filter((target) => !mayImportFeature(file.path, target.split('/')[2] ?? ''))
    .map((target) => `${file.path} -> ${target}`));
  assert.deepEqual(problems, []);
});

test('imports the pages of a feature in the portal only from themselves and the routes', () => {
  const features = new Set(sources.filter(({ path }) => path.startsWith('src/features/'))
    .map(({ path }) => path.split('/')[2]));
  const problems = sources.filter(({ path }) => path !== 'src/features/portal/routes.ts')
    .flatMap((file) => targetsOf(file).map((target) => ({ from: file.path, target })))
    .filter(({ target }) => target.startsWith('src/features/portal/'))
    .filter(({ from, target }) => {
      const [, , , folder, file] = target.split('/');
      return file !== undefined && features.has(folder) && from.split('/')[3] !== folder;
    });
  assert.deepEqual(problems, []);
});

test('lists the core in src/README.md, and all that the core imports', () => {
  const { files, imported } = readCoreList();
  const core = files.map(({ path }) => path);
  const listed = sources.filter(({ path }) => core.includes(path));
  assert.deepEqual(core.filter((path) => !listed.some((file) => file.path === path)), []);
  const targets = listed.flatMap((file) => targetsOf(file)
    .map((target) => ({ from: file.path, target })));
  const unlisted = targets.filter(({ target }) => !core.includes(target)
    && !imported.some((entry) => standsFor(entry, target)));
  assert.deepEqual(unlisted, [], 'list each in src/README.md: in the core, or as imported by it');
  const entries = sources.filter(({ path }) => imported.some((entry) => standsFor(entry, path)));
  // The store is opened by the program that embeds the app: the core only knows its ports.
  const adapter = sources.filter(({ path }) => STORE_ADAPTER.includes(path));
  const reached = new Set([...listed, ...entries, ...adapter].flatMap(targetsOf));
  const lost = core.slice(1).filter((path) => !reached.has(path));
  assert.deepEqual(lost, [], 'no listed file imports these');
  const needless = imported.filter((entry) =>
    !targets.some(({ target }) => !core.includes(target) && standsFor(entry, target)));
  assert.deepEqual(needless, [], 'the core does not import these; remove them from src/README.md');
});

test('says how many lines the core has, and how many are loaded with it', () => {
  const { lines, loadedLines } = measureCore(loadSources());
  const round = (count: number): string => (Math.round(count / 100) * 100).toLocaleString('en-US');
  const text = readFileSync(join(ROOT, 'src/README.md'), 'utf8').replaceAll('\n', ' ');
  const [, core, loaded] = /It has about ([\d,]+) lines: .* about ([\d,]+) lines are loaded/
    .exec(text) ?? [];
  assert.deepEqual([core, loaded], [round(lines), round(loadedLines)]);
  assert.match(readFileSync(join(ROOT, 'README.md'), 'utf8'), new RegExp(`about ${core} lines`));
});

test('keeps the adapter for PostgreSQL, with its tables, within 4,900 lines', () => {
  const folder = 'src/store/postgres/';
  const schema = readFileSync(join(ROOT, folder, 'schema/schema.sql'), 'utf8')
    .replaceAll(/^(?: *--.*)?\n/gm, '');
  const texts = sources.filter(({ path }) => path.startsWith(folder)).map(({ text }) => text);
  const lines = [schema, ...texts].reduce((sum, text) => sum + text.split('\n').length - 1, 0);
  assert.ok(lines <= 4_900, `it has ${lines} lines`);
});

test('has no product vocabulary in the code of http', () => {
  const problems = sources.filter(({ path }) => path.startsWith('src/http/'))
    .flatMap(({ path, text }) => [...withoutComments(text)
      .replaceAll('seller-product-api', '') // the name of this project
      .matchAll(/\w*(?:product|sku|stock)\w*/gi)].map(([word]) => `${path}: ${word}`));
  assert.deepEqual(problems, []);
});

test('has no import cycles', () => {
  const targets = new Map(sources.map((file) => [file.path, targetsOf(file)]));
  const done = new Set<string>();
  const visit = (path: string, chain: readonly string[]): void => {
    assert.ok(!chain.includes(path), `cycle: ${[...chain, path].join(' -> ')}`);
    if (done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...chain, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  assert.equal(done.size, sources.length);
});

test('has no unused exports and no unused files', () => {
  const imported = new Set(sources.flatMap((file) => file.imports.flatMap(({ names, from }) =>
    names.map((name) => `${resolve(file.path, from)} ${name}`))));
  const unused = sources.filter(({ path }) => !ENTRIES.includes(path)).flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?(?:const|function|class|type|interface) (\w+)/gm)]
      .map(([, name]) => `${path} ${name}`).filter((name) => !imported.has(name)));
  assert.deepEqual(unused, []);
  const reached = new Set(sources.flatMap(targetsOf));
  const lost = sources.map(({ path }) => path).filter((path) => !reached.has(path));
  assert.deepEqual(lost.filter((path) => !ENTRIES.includes(path)), []);
});

test('has a header comment in each file', () => {
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

/** Handles comments on lines of their own and at the end of a line, but no `//` in strings. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(?:^| )\/\/ .*$/gm, '');
}

function load(pattern: string | readonly string[]): SourceFile[] {
  return globSync(pattern, { cwd: ROOT }).sort().map((path) => {
    const text = read(path);
    return { path, text, lines: text.trimEnd().split('\n'), imports: [...findImports(text)] };
  });
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function* findImports(text: string): Generator<SourceFile['imports'][number]> {
  const statement = /^(?:import|export) (?:type )?(?:[^{}']*(?:\{([^{}]*)\})? from )?'([^']+)';/gm;
  for (const [, braces = '', from = ''] of text.matchAll(statement)) {
    const names = braces.split(',').map((name) => name.trim().replace(/^type /, ''));
    yield { names: names.filter(Boolean), from };
  }
  for (const [, from = '', name = ''] of text.matchAll(/import\('([^']+)'\)\)\.(\w+)/g)) {
    yield { names: [name], from };
  }
  const taken = /\{ ([\w, ]+) \} = await import\('([^'$]+)'\)/g;
  for (const [, names = '', from = ''] of text.matchAll(taken)) {
    yield { names: names.split(', '), from };
  }
}

function resolve(path: string, from: string): string {
  return normalize(join(dirname(path), from));
}

function targetsOf(file: SourceFile): string[] {
  const own = file.imports.filter(({ from }) => from.startsWith('.'));
  return own.map(({ from }) => resolve(file.path, from));
}

function layerOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function mayImportFeature(path: string, feature: string): boolean {
  const [, layer, own, part] = path.split('/');
  if (layer !== 'features') return layer === 'features.ts' || layer === 'index.ts';
  // The portal pages of a feature are in the folder with its name.
  return own === feature || (own === 'portal' && part === feature);
}

/** A function starts at a line that ends in `{`, and ends at the next line as far to the left. */
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
