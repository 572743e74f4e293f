/** The runner of the tests loses no result, and no file that misbehaves. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { makeFolder } from './support/folder.ts';
import { type RunOptions, runFiles } from './support/runner/run-files.ts';

const PROCESS_END = new URL('./support/process-end.ts', import.meta.url).href;
const GOOD = `test('passes', () => {});`;

/** Runs files with these sources, one after the other. */
async function run(
  t: TestContext, sources: Readonly<Record<string, string>>, options: Partial<RunOptions> = {},
) {
  const folder = makeFolder(t);
  const files = Object.entries(sources).map(([name, source]) => {
    const file = join(folder, name);
    writeFileSync(file, `import { after, describe, test } from 'node:test';\n${source}`);
    return file;
  });
  let output = '';
  const result = await runFiles(files, {
    jobs: 1, testTimeoutMs: 60_000, isAlone: false, print: (text) => { output += text; },
    ...options,
  });
  const short = (text: string): string => text.replaceAll(`${folder}/`, '');
  return {
    tests: result.tests.map(({ file, name, result: ended }) => [basename(file), name, ended]),
    files: result.files.map(({ file }) => basename(file)),
    failures: result.failures.map(({ what }) => short(what)), skipReasons: [...result.skipReasons],
    output: short(output),
  };
}

test('reports each test of each file, and why one failed', async (t) => {
  const result = await run(t, {
    'one.mjs': `${GOOD} describe('inside', () => {
      test('fails', (t) => { t.diagnostic('SEED=7'); throw new Error('the reason'); });
      test('is skipped', { skip: 'why' }, () => {});
    });`,
    'skipped.mjs': `describe('elsewhere', { skip: 'why' }, () => { ${GOOD} });`,
    'other.mjs': GOOD,
  });
  assert.deepEqual(result.tests, [
    ['one.mjs', 'passes', 'passed'],
    ['one.mjs', 'inside > fails', 'failed'],
    ['one.mjs', 'inside > is skipped', 'skipped'],
    ['skipped.mjs', 'elsewhere', 'skipped'],
    ['other.mjs', 'passes', 'passed'],
  ]);
  assert.deepEqual(result.files, ['one.mjs', 'skipped.mjs', 'other.mjs']);
  assert.deepEqual(result.skipReasons, ['why']);
  assert.equal(result.failures.length, 1);
  assert.match(result.output, /inside > fails[^]*the reason[^]*SEED=7/);
});

test('fails for a file that ends its process early, and runs the rest', async (t) => {
  const { failures, tests } = await run(t, {
    'early.mjs': `${GOOD} test('ends', () => process.exit(0)); ${GOOD}`,
    'rest.mjs': GOOD,
  });
  assert.deepEqual(failures, [
    'early.mjs ended its process early: 0', 'early.mjs has not reported its end.',
  ]);
  assert.deepEqual(tests.at(-1), ['rest.mjs', 'passes', 'passed']);
});

test('fails for a test that never ends, and runs the rest of its file', async (t) => {
  const { failures, tests, output } = await run(t, {
    'waits.mjs': `test('waits', () => new Promise((resolve) => setTimeout(resolve, 1e6).unref()));
      ${GOOD}`,
  }, { testTimeoutMs: 100 });
  assert.deepEqual(failures.length, 1);
  assert.match(output, /waits[^]*timed out/);
  assert.deepEqual(tests.at(-1), ['waits.mjs', 'passes', 'passed']);
});

test('kills a worker whose file blocks it, and runs the rest', async (t) => {
  const { failures, tests } = await run(t, {
    'blocks.mjs': `test('blocks', () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`, 'rest.mjs': GOOD,
  }, { testTimeoutMs: 1_000, silenceLimitMs: 14_000 });
  assert.deepEqual(failures, [
    'blocks.mjs hangs: it has reported nothing for too long.',
    'blocks.mjs ended its process early: SIGKILL', 'blocks.mjs has not reported its end.',
  ]);
  assert.deepEqual(tests, [['rest.mjs', 'passes', 'passed']]);
});

test('fails for a file that leaves open what keeps its process alive', async (t) => {
  const { failures, files, output } = await run(t, {
    'leaks.mjs': `test('leaks', () => { setInterval(() => {}, 1e6); });`,
  }, { exitLimitMs: 100 });
  assert.deepEqual(failures, ['leaks.mjs']);
  assert.match(output, /left open what keeps the process alive: Timeout\./);
  assert.deepEqual(files, ['leaks.mjs']);
});

test('fails for a file that has no tests, cannot be loaded or fails in a hook', async (t) => {
  const { output } = await run(t, {
    'empty.mjs': '', 'broken.mjs': `import './missing.mjs';`,
    'hook.mjs': `${GOOD} after(() => { throw new Error('in the hook'); });`,
  });
  assert.match(output, /empty\.mjs has no tests/);
  assert.match(output, /broken\.mjs\nError \[ERR_MODULE_NOT_FOUND\]/);
  assert.match(output, /hook\.mjs\nError: in the hook/);
});

test('fails for what goes wrong between tests', async (t) => {
  const { output } = await run(t, {
    'late.mjs': `test('starts', () => { setImmediate(() => { throw new Error('late'); }); });
      test('waits', () => new Promise((resolve) => setTimeout(resolve, 100)));`,
  });
  assert.match(output, /Error: .*late/);
});

test('fails for a cleanup at the end of the process that fails', async (t) => {
  const { output } = await run(t, {
    'ends.mjs': `import { atProcessEnd } from '${PROCESS_END}';
      ${GOOD} atProcessEnd(() => { throw new Error('at the end'); });`,
  });
  assert.match(output, /ends\.mjs\nError: at the end/);
});

test('ends with status 1 if a test fails or a pattern matches no file, else with 0', (t) => {
  const folder = makeFolder(t);
  const good = join(folder, 'good.mjs');
  const bad = join(folder, 'bad.mjs');
  writeFileSync(good, `import { test } from 'node:test'; ${GOOD}`);
  writeFileSync(bad, `import { test } from 'node:test';
    test('fails', () => { throw new Error('no'); });`);
  const start = (...files: readonly string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), '--jobs', '1', ...files]);
  assert.equal(start(good).status, 0);
  assert.equal(start(good, bad).status, 1);
  assert.match(start(good, join(folder, 'x*.mjs')).stderr.toString(), /No file matches .*x\*\.mjs/);
  const failures = join(folder, 'failures.txt');
  writeFileSync(failures, 'earlier\n');
  start('--failures', failures, good, bad);
  assert.match(readFileSync(failures, 'utf8'), /^earlier\n✖ fails .*bad\.mjs.*\n +Error: no/);
});

test('gives each file a process of its own, if told to', async (t) => {
  const source = `test('counts', (t) => {
    globalThis.files = (globalThis.files ?? 0) + 1;
    if (globalThis.files > 1) throw new Error('not alone');
  });`;
  const sources = { 'one.mjs': source, 'other.mjs': source };
  assert.deepEqual((await run(t, sources, { isAlone: true })).failures, []);
  assert.equal((await run(t, sources)).failures.length, 1);
});
