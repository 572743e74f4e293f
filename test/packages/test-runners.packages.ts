/** The tests in src/embed/README.md, run by the real test runners on the real package. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { copyClone, pack, ROOT } from '../package/clone.ts';
import { installPackages } from '../support/install-packages.ts';

const PACKAGES = ['vitest@5.1.1', 'jest@30.5.2'];
const project = mkdtempSync(join(tmpdir(), 'seller-api-runners-'));
const app = join(project, 'app');
let skipReason: string | undefined;

before(async () => {
  mkdirSync(app);
  const archive = await pack(copyClone(join(project, 'clone')));
  await installPackages({ skip: (reason) => { skipReason = reason; } }, app,
    [...PACKAGES, archive]);
  if (skipReason !== undefined) console.error(`SKIPPED: ${skipReason}`);
});
after(() => rmSync(project, { recursive: true, force: true }));

function readExample(name: string): string {
  const text = readFileSync(join(ROOT, 'src/embed/README.md'), 'utf8');
  const pattern = new RegExp(`<!-- example: ${name} -->\\n\`\`\`js\\n(.*?)\`\`\``, 's');
  return pattern.exec(text)?.[1] ?? assert.fail(`the guide has no example ${name}`);
}

interface Run {
  readonly file: string;
  readonly code: string;
  readonly command: readonly string[];
  readonly options?: string;
  /** What the runner prints if one test has passed. */
  readonly passed: RegExp;
}

/** Each program gets a temporary folder of its own, in which nothing may remain. */
function run({ file, code, command, options = '', passed }: Run): void {
  const temporary = join(project, `tmp-${file}`);
  mkdirSync(temporary);
  writeFileSync(join(app, file), code);
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: app, encoding: 'utf8',
    env: {
      ...process.env, TMPDIR: temporary, NODE_OPTIONS: options, NO_COLOR: '1',
      NODE_TEST_CONTEXT: undefined, // of the runner of this test
    },
  });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout + stderr, passed);
  const left = readdirSync(temporary).filter((name) => name.startsWith('seller-product-api-'));
  assert.deepEqual(left, []);
}

const JEST = ['node_modules/jest/bin/jest.js', '--testMatch'];
const VM_MODULES = '--experimental-vm-modules';
const ONE_TEST = /Tests:? +1 passed/;
const RUNS: Readonly<Record<string, () => Run>> = {
  'node:test': () => ({
    file: 'node.mjs', code: readExample('node-test'), command: ['--test', 'node.mjs'],
    passed: /pass 1/,
  }),
  Vitest: () => ({
    file: 'vitest.test.js', code: readExample('vitest'), passed: ONE_TEST,
    command: ['node_modules/vitest/vitest.mjs', 'run', 'vitest.test.js'],
  }),
  'Jest, as an ES module': () => ({
    file: 'jest.test.mjs', code: readExample('vitest').replace(/^import .* from 'vitest';$/m, ''),
    command: [...JEST, '**/jest.test.mjs'], options: VM_MODULES, passed: ONE_TEST,
  }),
  'Jest, as CommonJS': () => ({
    file: 'jest.test.cjs', code: readExample('jest'),
    command: [...JEST, '**/jest.test.cjs'], options: VM_MODULES, passed: ONE_TEST,
  }),
};

for (const [runner, make] of Object.entries(RUNS)) {
  test(`the example works with ${runner}`, (t) => {
    if (skipReason !== undefined) t.skip(skipReason);
    else run(make());
  });
}
