/**
 * Runs the tests of everyone else without a feature: in a copy that does not have it, all tests of
 * the API and of the other features that neither import the feature nor send it requests. Of the
 * portal these are the tests of its frame, not those of each page.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';
import { makeFolder } from '../support/folder.ts';
import { copyWithout, type FeatureName, FEATURES, ROOT } from './removal.ts';

const TESTS = [
  'test/app*.test.ts', 'test/api/**/*.test.ts', 'test/features/*/*.test.ts',
];

/** What a test has in its text, or in that of its helpers, if it uses a feature. */
const USES: Readonly<Record<FeatureName, RegExp>> = {
  changes: /v1\/changes|stock\/movements|features\/changes\/|'\/?movements/,
  imports: /products\/import|features\/(?:portal\/)?imports\//,
  openapi: /openapi|portal\/api/,
  portal: /portal/i,
  telemetry: /metrics-|\/metrics|telemetry/,
  webhooks: /webhook/i,
};
/** They read the composition as it is, so each test would seem to use every feature. */
const SHARED = ['test/support/server.ts', 'test/support/routes.ts', 'test/features/removal.ts'];
/** About the project as a whole. */
const WHOLE = ['test/features/removal.test.ts'];

describe('without a feature, the tests of everyone else pass', () => {
  for (const feature of FEATURES) {
    test(feature, async (t) => {
      const folder = makeFolder(t);
      copyWithout(feature, folder, ['test', 'data', 'README.md']);
      const others = globSync(TESTS, { cwd: ROOT }).sort()
        .filter((path) => !WHOLE.includes(path) && !usesFeature(path, feature));
      assert.ok(others.length > 20, `${others.length} tests`);
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const child = spawn(process.execPath, ['--test', '--test-reporter=dot', ...others], {
        cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'],
      });
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => { out += text; });
      child.stderr.setEncoding('utf8').on('data', (text: string) => { out += text; });
      const [status] = await once(child, 'close');
      assert.equal(status, 0, out);
      t.diagnostic(`${others.length} test files`);
    });
  }
});

/** Looks at a test and, in turn, at the helpers in `test/` that it imports. */
function usesFeature(path: string, feature: FeatureName, seen = new Set<string>()): boolean {
  if (seen.has(path) || SHARED.includes(path)) return false;
  seen.add(path);
  const text = readFileSync(join(ROOT, path), 'utf8');
  if (USES[feature].test(path) || USES[feature].test(text)) return true;
  return [...text.matchAll(/from '(\.[^']+)'/g)]
    .map(([, from = '']) => normalize(join(dirname(path), from)))
    .filter((target) => target.startsWith('test/'))
    .some((target) => usesFeature(target, feature, seen));
}
