/**
 * Runs tests in copies of the project that lack features: without each feature the tests of the
 * others, and without all features the tests of the API, whose code imports none. Tests that use a
 * removed feature are left out.
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

describe('without a feature, the tests of the other features pass', () => {
  for (const feature of FEATURES) {
    test(feature, (t) => runOthers(t, [feature], [FEATURE_TESTS], 15));
  }
});

test('without any feature, the tests of the API pass', (t) =>
  runOthers(t, FEATURES, API_TESTS, 20));

/** Runs at least `minimum` test files. */
async function runOthers(
  t: TestContext, removed: readonly FeatureName[], patterns: readonly string[], minimum: number,
): Promise<void> {
  const others = globSync(patterns, { cwd: ROOT }).sort()
    .filter((path) => !removed.some((feature) => usesFeature(path, feature)));
  assert.ok(others.length >= minimum, `only ${others.length} tests: ${others.join(' ')}`);
  const folder = makeFolder(t);
  copyWithout(removed, folder, ['test', 'data', 'README.md']);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [
    '--test', '--test-force-exit', '--test-timeout=180000', '--test-reporter=dot',
    `--test-concurrency=${CONCURRENCY}`, ...others,
  ], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'], signal: t.signal });
  child.on('error', () => {}); // this test timed out, and its signal killed the child
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const output = await text(child.stdout);
  assert.equal(await exited, 0, output);
  t.diagnostic(`${others.length} test files`);
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
