/**
 * Runs tests in copies of the project that lack features, so each test runs without every feature
 * that it does not use: those of one feature without all others at once, those of several features
 * without each of the rest, and those of the API, whose code imports no feature, without any.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { text } from 'node:stream/consumers';
import { makeFolder } from '../support/folder.ts';
import { copyWithout, type FeatureName, FEATURES, ROOT } from './removal.ts';

const FEATURE_TESTS = 'test/features/*/*.test.ts';
const API_TESTS = ['test/app*.test.ts', 'test/api/**/*.test.ts'];

/** Matches the source of a test, or of its helpers, that uses a feature. */
const USES: Readonly<Record<FeatureName, RegExp>> = {
  changes: /v1\/changes|stock\/movements|features\/changes\/|'\/?movements/,
  imports: /products\/import|importProducts|features\/(?:portal\/)?imports\//,
  openapi: /openapi|portal\/api/,
  portal: /portal/i,
  telemetry: /metrics-|\/metrics|telemetry/,
  webhooks: /webhook/i,
};
/** Skipped, as they import the composition: every test would seem to use every feature. */
const SHARED = ['test/support/server.ts', 'test/support/routes.ts', 'test/features/removal.ts'];
/** Tests wait about as long as they compute. */
const CONCURRENCY = availableParallelism() * 2;

interface FeatureTest {
  readonly path: string;
  readonly uses: readonly FeatureName[];
}

const featureTests = globSync(FEATURE_TESTS, { cwd: ROOT }).sort().map((path): FeatureTest =>
  ({ path, uses: FEATURES.filter((feature) => usesFeature(path, feature)) }));

test('finds the tests of the features', () => {
  assert.ok(featureTests.length >= 45, `only ${featureTests.length} test files`);
  assert.deepEqual(featureTests.filter(({ uses }) => uses.length === 0), []);
});

describe('the tests of one feature pass without all others', () => {
  for (const feature of FEATURES) {
    const own = featureTests.filter(({ uses }) => uses.length === 1 && uses[0] === feature);
    test(feature, (t) =>
      runTests(t, FEATURES.filter((name) => name !== feature), own.map(({ path }) => path)));
  }
});

describe('the tests of several features pass without a feature that they do not use', () => {
  for (const feature of FEATURES) {
    const others = featureTests.filter(({ uses }) => uses.length > 1 && !uses.includes(feature));
    test(feature, (t) => runTests(t, [feature], others.map(({ path }) => path)));
  }
});

test('the tests of the API pass without any feature', (t) => {
  const own = globSync(API_TESTS, { cwd: ROOT }).sort()
    .filter((path) => !FEATURES.some((feature) => usesFeature(path, feature)));
  assert.ok(own.length >= 20, `only ${own.length} test files`);
  return runTests(t, FEATURES, own);
});

/** Runs these test files in a copy without these features. */
async function runTests(
  t: TestContext, removed: readonly FeatureName[], paths: readonly string[],
): Promise<void> {
  assert.ok(paths.length >= 2, 'hardly any test files');
  const folder = makeFolder(t);
  copyWithout(removed, folder, ['test', 'data', 'README.md']);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [
    '--test', '--test-force-exit', '--test-timeout=180000', '--test-reporter=dot',
    `--test-concurrency=${CONCURRENCY}`, ...paths,
  ], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'], signal: t.signal });
  child.on('error', () => {}); // this test timed out, and its signal killed the child
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const output = await text(child.stdout);
  assert.equal(await exited, 0, output);
  t.diagnostic(`${paths.length} test files`);
}

/** Checks a test and, recursively, the helpers in `test/` that it imports. */
function usesFeature(path: string, feature: FeatureName, seen = new Set<string>()): boolean {
  if (seen.has(path) || SHARED.includes(path)) return false;
  seen.add(path);
  const source = readFileSync(join(ROOT, path), 'utf8');
  if (USES[feature].test(path) || USES[feature].test(source)) return true;
  return [...source.matchAll(/from '(\.[^']+)'/g)]
    .map(([, from = '']) => normalize(join(dirname(path), from)))
    .filter((target) => target.startsWith('test/'))
    .some((target) => usesFeature(target, feature, seen));
}
