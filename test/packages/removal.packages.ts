/** Each feature can be removed: the rest compiles, starts, and responds as before. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { makeFolder } from '../support/folder.ts';
import { watchServing } from '../support/command.ts';
import { send } from '../support/http.ts';
import { copyWithout, type FeatureName, FEATURES, ROOT } from './removal.ts';

const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const TOKEN = 'A'.repeat(32);

interface Probe {
  readonly path: string;
  readonly method?: string;
  /** The features that the route needs in addition to the core. */
  readonly needs: readonly FeatureName[];
  readonly status: number;
  /** The status without one of them. Default: 404. */
  readonly without?: number;
}

/** Sent without a key: 401 shows that a route exists. */
const PROBES: readonly Probe[] = [
  { path: '/healthz', needs: [], status: 200 },
  { path: '/api/v1/products', needs: [], status: 401 },
  { path: '/api/v1/stock', method: 'POST', needs: [], status: 401 },
  { path: '/api/v1/changes', needs: ['changes'], status: 401 },
  { path: '/api/v1/stock/movements', needs: ['changes'], status: 401 },
  // Without the feature this path names a product, whose route has other methods.
  {
    path: '/api/v1/products/import', method: 'POST', needs: ['imports'], status: 401, without: 405,
  },
  { path: '/api/v1/openapi.json', needs: ['openapi'], status: 200 },
  { path: '/api/v1/webhooks', needs: ['webhooks'], status: 401 },
  { path: '/metrics', needs: ['telemetry'], status: 200 },
  { path: '/portal/join', needs: ['portal'], status: 200 },
  { path: '/portal/products', needs: ['portal'], status: 303 },
  { path: '/portal/changes', needs: ['portal', 'changes'], status: 303 },
  { path: '/portal/import', needs: ['portal', 'imports'], status: 303 },
  { path: '/portal/filters', method: 'POST', needs: ['portal'], status: 403 },
  { path: '/portal/categories/rename', needs: ['portal', 'imports'], status: 303 },
  { path: '/portal/api', needs: ['portal', 'openapi'], status: 303 },
  { path: '/portal/webhooks', needs: ['portal', 'webhooks'], status: 303 },
];

describe('without a feature', { concurrency: 2 }, () => {
  for (const feature of FEATURES) {
    test(`${feature}: the rest compiles and serves, without its routes`, async (t) => {
      const folder = makeFolder(t);
      copyWithout([feature], folder);
      if (existsSync(COMPILER)) await compile(folder);
      const tokenFile = join(folder, 'token');
      writeFileSync(tokenFile, TOKEN);
      const serving = await watchServing(t, spawn(process.execPath, [
        join(folder, 'src/main.ts'), 'serve', '--json', '--port', '0',
        '--data', join(folder, 'data'),
      ], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, SELLER_API_METRICS_TOKEN_FILE: tokenFile },
      }));
      for (const { path, method = 'GET', needs, status, without = 404 } of PROBES) {
        const headers = path === '/metrics' ? { authorization: `Bearer ${TOKEN}` } : {};
        const answer = await send(serving.port, { method, path, headers });
        const expected = needs.includes(feature) ? without : status;
        assert.equal(answer.status, expected, `${method} ${path}: ${answer.text}`);
      }
      assert.equal(await serving.stop('SIGTERM'), 0);
    });
  }
});

async function compile(folder: string): Promise<void> {
  const config = join(folder, 'tsconfig.src.json');
  writeFileSync(config, JSON.stringify({ extends: './tsconfig.json', include: ['src'] }));
  const { stdout } = await promisify(execFile)(process.execPath, [COMPILER, '--project', config])
    .catch((error: { readonly stdout: string }) => error);
  assert.equal(stdout, '');
}
