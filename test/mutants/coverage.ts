/**
 * The map from places of the source to tests: each test file runs alone with V8's coverage, and
 * the text that it executed is kept in `.node/mutants/coverage/`, by the hash of the test file. A
 * source file that has changed since then counts as executed wherever it was executed at all.
 */
import { createHash } from 'node:crypto';
import {
  existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runFiles } from '../support/runner/run-files.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, '.node/mutants/coverage');
const STRIP_CACHE = join(ROOT, 'test/support/strip-cache.js');
const URL_PREFIX = pathToFileURL(join(ROOT, '/')).href;

/**
 * These read the source as text, run other tests, or measure the memory of their process: a mutant
 * means nothing to them.
 */
const EXCLUDED = [
  'test/features/portal/imports/upload.test.ts',
  'test/{tidy,security,supply-chain,run,faults,readme,deployment}.test.ts',
  'test/{audit,bench,faults,limits,mutants,package,packages,upgrade}/**',
];

/** A part of a text, from its first character to the one after its last. */
type Range = readonly [start: number, end: number];

interface CoveredFile {
  /** Of the source file when its coverage was measured. */
  readonly hash: string;
  readonly ranges: readonly Range[];
}

export interface TestCoverage {
  readonly test: string;
  readonly durationMs: number;
  /** What it executed, by the path of the source file. */
  readonly files: Readonly<Record<string, CoveredFile>>;
}

/** What V8 writes for a process or thread. */
interface CoverageReport {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly {
        readonly startOffset: number;
        readonly endOffset: number;
        readonly count: number;
      }[];
    }[];
  }[];
}

/** The coverage of every test file; measures those that are new or have changed. */
export async function loadCoverage(print: (text: string) => void): Promise<TestCoverage[]> {
  mkdirSync(FOLDER, { recursive: true });
  const tests = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: EXCLUDED }).sort();
  const waiting = tests.filter((test) => !existsSync(cachePath(test)));
  if (waiting.length > 0) print(`Measuring what ${waiting.length} test files execute.\n`);
  const measureNext = async (): Promise<void> => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
      writeFileSync(cachePath(test), JSON.stringify(await measure(test)));
      if (waiting.length % 20 === 0) print(`${waiting.length} test files left\n`);
    }
  };
  await Promise.all([measureNext(), measureNext()]);
  return tests.map((test) => JSON.parse(readFileSync(cachePath(test), 'utf8')) as TestCoverage);
}

/** Whether a test executes one of these places of a source file with this text. */
export function covers(
  { files }: TestCoverage, path: string, text: string, places: readonly number[],
): boolean {
  const covered = files[path];
  if (!covered) return false;
  return covered.hash !== hashOf(text)
    || covered.ranges.some(([start, end]) => places.some((at) => at >= start && at < end));
}

function cachePath(test: string): string {
  const hash = hashOf(readFileSync(join(ROOT, test), 'utf8'));
  return join(FOLDER, `${test.replaceAll('/', '+')}.${hash}.json`);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

async function measure(test: string): Promise<TestCoverage> {
  const folder = mkdtempSync(join(FOLDER, 'run-'));
  try {
    const run = await runFiles([join(ROOT, test)], {
      jobs: 1, testTimeoutMs: 180_000, isAlone: true, print: () => {},
      environment: {
        NODE_V8_COVERAGE: folder, NODE_OPTIONS: `--import="${STRIP_CACHE}"`,
        NODE_DISABLE_COMPILE_CACHE: '1', // it would make coverage less precise
      },
    });
    for (const { what, why } of run.failures) throw new Error(`${test}: ${what}\n${why}`);
    const texts = new Map<string, Uint8Array>();
    for (const name of readdirSync(folder)) {
      markExecuted(texts, JSON.parse(readFileSync(join(folder, name), 'utf8')) as CoverageReport);
    }
    const files = [...texts].map(([path, marks]) => [path, {
      hash: hashOf(readFileSync(join(ROOT, path), 'utf8')), ranges: toRanges(marks),
    }]);
    return {
      test, durationMs: run.files[0]?.durationMs ?? 0, files: Object.fromEntries(files),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Adds to the marks of each source file, a byte for each of its characters. */
function markExecuted(texts: Map<string, Uint8Array>, { result }: CoverageReport): void {
  for (const { url, functions } of result) {
    if (!url.startsWith(`${URL_PREFIX}src/`)) continue;
    const path = url.slice(URL_PREFIX.length).replace(/\?.*/, ''); // of a module loaded again
    // A range within another one comes after it.
    const ranges = functions.flatMap((entry) => entry.ranges)
      .sort((one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset);
    const length = Math.max(...ranges.map(({ endOffset }) => endOffset));
    const own = new Uint8Array(length);
    for (const { startOffset, endOffset, count } of ranges) {
      own.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    }
    const marks = texts.get(path) ?? new Uint8Array(length);
    texts.set(path, marks.map((mark, index) => mark | (own[index] ?? 0)));
  }
}

function toRanges(marks: Uint8Array): Range[] {
  const ranges: Range[] = [];
  let start = marks.indexOf(1);
  while (start !== -1) {
    const end = marks.indexOf(0, start);
    ranges.push([start, end === -1 ? marks.length : end]);
    start = end === -1 ? -1 : marks.indexOf(1, end);
  }
  return ranges;
}
