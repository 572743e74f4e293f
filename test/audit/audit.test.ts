/**
 * Checks that `make audit` is complete. The audit matches text. This test runs the compiler without
 * type libraries: its errors then name every global and module of the environment, with the line.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { findModules, findPlaces, KINDS, loadSources, ROOT } from './places.ts';

const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;
/** Global names that reach nothing outside the process or the page. */
const HARMLESS_NAMES = new Set([
  'AbortController', 'AbortSignal', 'Blob', 'Buffer', 'CSS', 'Element', 'Event', 'FormData',
  'Headers', 'Node', 'ReadableStream', 'Request', 'Response', 'SubmitEvent', 'TextDecoder',
  'TextEncoder', 'URL', 'URLSearchParams', 'addEventListener', 'atob', 'btoa', 'clearImmediate',
  'clearInterval', 'clearTimeout', 'console', 'document', 'history', 'location', 'performance',
  'setImmediate', 'setInterval', 'setTimeout',
]);
const HARMLESS_MODULES = new Set([
  'buffer', 'events', 'path', 'perf_hooks', 'readline', 'stream', 'stream/promises',
  'timers/promises', 'url', 'util', 'zlib',
]);
/** Turns every use of `prepare` and `exec` on a database into a compiler error. */
const DATABASE_WITHOUT_SQL = `declare module 'node:sqlite' {
  export class DatabaseSync { constructor(file: string, options?: object); close(): void }
  export type StatementSync = any; export type SQLInputValue = any; export const constants: any;
}`;
/** The minimum that the compiler needs without a library. */
const NO_LIBRARY = ['Boolean', 'CallableFunction', 'Function', 'IArguments', 'NewableFunction',
  'Number', 'Object', 'RegExp', 'String', 'Array<T>', 'Promise<T>',
].map((name) => `interface ${name} {}`).join('\n');

interface Found {
  readonly path: string;
  readonly line: number;
  readonly what: string;
}

const sources = loadSources();
const found = new Map(KINDS.map((kind) =>
  [kind.title, sources.flatMap((source) => findPlaces(kind, source))]));
const all = [...found.values()].flat();

describe('the audit lists', { skip: !existsSync(COMPILER) && 'needs the compiler' }, () => {
  /** The compiler errors with only the language's library, and without any library. */
  let errors: readonly Found[] = [];
  let bare: readonly Found[] = [];

  before(() => {
    errors = compile({ lib: ['esnext'] }, DATABASE_WITHOUT_SQL);
    bare = compile({ noLib: true }, NO_LIBRARY);
  });

  test('every Node module that is loaded', () => {
    const loaded = find(bare, /'node:([^']+)'/).filter(isKept);
    assert.ok(loaded.length > 100);
    const known = sources.flatMap(findModules).map(({ module, ...place }) =>
      ({ ...place, what: module }));
    assert.deepEqual(format(known), format(loaded));
    const classified = new Set([...KINDS.flatMap(({ modules }) => modules), ...HARMLESS_MODULES]);
    assert.deepEqual(loaded.filter(({ what }) => !classified.has(what)), []);
  });

  test('every global name that reaches outside the process', () => {
    const used = [
      ...find(errors, /^TS\d+: Cannot find name(?:space)? '(\w+)'/),
      ...find(bare, /^TS\d+: (?:Cannot find name )?'(eval|Function)'/),
    ].filter(({ what }) => !/^(?:HTML\w+|Authenticator\w+|NodeJS)$/.test(what)); // types
    const names = new Set(KINDS.flatMap((kind) => kind.names));
    const relevant = used.filter(({ path, line, what }) =>
      !HARMLESS_NAMES.has(what) && !/^\s*(?:\/?\*|\/\/)/.test(lineOf(path, line)));
    assert.ok(relevant.length > 30);
    assert.deepEqual(relevant.filter(({ what }) => !names.has(what)), []);
    const known = all.map(({ what, ...place }) => ({ ...place, what: what.split('.')[0] ?? '' }));
    assertListed(known, relevant);
  });

  test('every statement that is passed to a database', () => {
    const given = find(errors, /Property '(prepare|exec)' does not exist on type 'DatabaseSync'/);
    assert.ok(given.length > 75);
    const known = (found.get('SQL') ?? []).map(({ what, ...place }) =>
      ({ ...place, what: /(prepare|exec)\($/.exec(what)?.[1] ?? '' }));
    assertListed(known, given);
  });

  test('every place that turns text into markup', () => {
    const made = find(errors, /^TS2673: Constructor of class '(Html)' is private/);
    const known = all.filter(({ what }) => what === 'new Html(');
    assert.deepEqual(format(known.map((place) => ({ ...place, what: 'Html' }))), format(made));
    assert.equal(made.length, 1);
  });

  test('every dynamic import, and every use of Math.random', () => {
    const loaded = find(bare, /^TS2712: A (dynamic import) call/);
    assert.ok(loaded.length > 5);
    const known = all.filter(({ what }) => what.startsWith('import('));
    const what = 'dynamic import';
    assert.deepEqual(format(known.map((place) => ({ ...place, what }))), format(loaded));
    const random = find(bare, /name '(Math)'/).filter(({ path, line }) =>
      /\bMath\b(?!\.(?!random)\w)/.test(lineOf(path, line)));
    assert.deepEqual(
      format(all.filter((place) => place.what === 'Math.random')),
      format(random.map((place) => ({ ...place, what: 'Math.random' }))),
    );
  });
});

test('the audit prints every place, with its line', () => {
  const main = join(import.meta.dirname, 'main.ts');
  const printed = execFileSync(process.execPath, [main], { encoding: 'utf8' });
  for (const { path, line } of all) {
    assert.match(printed, new RegExp(`^${path}:(?:\\d+,\\s+)*${line}(?:,|  )`, 'm'));
  }
  for (const { title } of KINDS) assert.ok(printed.includes(`\n${title}\n`), title);
  assert.match(printed, /\bcreateShop\b/);
});

/** Compiler errors by path and line. A private constructor turns each `new Html(` into an error. */
function compile(library: object, declarations: string): Found[] {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-audit-'));
  try {
    cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
    const page = join(folder, 'src/features/portal/html/html.ts');
    const markup = readFileSync(page, 'utf8');
    writeFileSync(page, markup.replace('  constructor(', '  private constructor('));
    writeFileSync(join(folder, 'declarations.d.ts'), declarations);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
      compilerOptions: {
        ...library, types: [], noEmit: true, module: 'nodenext', target: 'esnext', pretty: false,
        allowImportingTsExtensions: true, allowJs: true, checkJs: true, strict: true,
      },
      include: ['src', 'declarations.d.ts'],
    }));
    const { stdout } = spawnSync(process.execPath, [COMPILER, '--project', folder], {
      cwd: folder, encoding: 'utf8', maxBuffer: OUTPUT_LIMIT_BYTES,
    });
    return [...stdout.matchAll(/^(src\/[^(]+)\((\d+),\d+\): error (.*)$/gm)]
      .map(([, path = '', line, what = '']) => ({ path, line: Number(line), what }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function find(errors: readonly Found[], pattern: RegExp): Found[] {
  return errors.flatMap(({ path, line, what: message }) => {
    const what = pattern.exec(message)?.[1];
    return what === undefined ? [] : { path, line, what };
  });
}

/** The audit may list more, such as words in strings, but nothing may be missing. */
function assertListed(known: readonly Found[], used: readonly Found[]): void {
  const places = new Set(format(known));
  assert.deepEqual(format(used).filter((place) => !places.has(place)), []);
}

/** Sorted, without duplicates. */
function format(places: readonly Found[]): string[] {
  return [...new Set(places.map(({ path, line, what }) => `${path}:${line} ${what}`))].sort();
}

/** Whether an import remains after type stripping. */
function isKept({ path, line, what }: Found): boolean {
  const text = sources.find((source) => source.path === path)?.lines.join('\n') ?? '';
  const code = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  return code.split('\n')[line - 1]?.includes(`'node:${what}'`) === true;
}

function lineOf(path: string, line: number): string {
  return sources.find((source) => source.path === path)?.lines[line - 1] ?? '';
}
