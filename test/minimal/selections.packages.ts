/**
 * What `make minimal` writes, for the smallest tree, each room and each pair: it compiles with its
 * tests; it starts and serves its routes and no others; it opens a data folder of the whole server;
 * its own tests pass. With `ALL_SELECTIONS` those of each room run, else of the smallest tree.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { type Room, ROOMS, type Selection } from '../../.toolchain/composition.ts';
import { planSource, ROOT } from '../../.toolchain/tree.ts';
import { type Serving, watchServing } from '../support/command.ts';
import { send } from '../support/http.ts';
import { readAnswer, readExpectations, toRequest, unpack } from '../upgrade/fixture.ts';
import {
  listExpectedRoutes, listRoutes, makeTree, nameOf, PAIRS, runIn, SINGLES,
} from './selection.ts';

const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const SMALLEST: Selection = new Set();
const TOKEN = 'A'.repeat(32);
const TESTED = process.env['ALL_SELECTIONS'] ? [SMALLEST, ...SINGLES] : [SMALLEST];

interface Probe {
  readonly path: string;
  readonly method?: string;
  /** The rooms that the route needs. */
  readonly needs: readonly Room[];
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
  // Without the room this path names a product, whose route has other methods.
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

const { reads } = readExpectations();
/** Those of the API that every selection has. */
const CORE_READS = reads.filter(({ name }) => /^(?:products?|stock)(?:\?|$)/.test(name));

describe('a selection', { concurrency: 2 }, () => {
  for (const selection of [SMALLEST, ...SINGLES, ...PAIRS]) {
    test(`${nameOf(selection)} compiles`, {
      skip: existsSync(COMPILER) ? false : 'the npm packages are not installed',
    }, async (t) => {
      const folder = makeTree(t, selection);
      assert.equal(await runIn(folder, COMPILER, '--project', '.'), '');
    });
  }
  for (const selection of [SMALLEST, ...SINGLES, new Set<Room>(['portal', 'webhooks'])]) {
    test(`${nameOf(selection)} serves its routes and no others`, async (t) => {
      const folder = makeTree(t, selection);
      assert.deepEqual(await listRoutes(folder), listExpectedRoutes(selection));
      const serving = await serve(t, folder, join(folder, 'new'));
      for (const { path, method = 'GET', needs, status, without = 404 } of PROBES) {
        const headers = path === '/metrics' ? { authorization: `Bearer ${TOKEN}` } : {};
        const answer = await send(serving.port, { method, path, headers });
        const expected = needs.every((room) => selection.has(room)) ? status : without;
        assert.equal(answer.status, expected, `${method} ${path}: ${answer.text}`);
      }
      assert.match(serving.notes(), selection.has('portal') ? /Code: / : /To start, in another/);
      assert.equal(await serving.stop('SIGTERM'), 0);
    });

    test(`${nameOf(selection)} opens a data folder of the whole server`, async (t) => {
      const folder = makeTree(t, selection);
      const data = unpack(join(folder, 'recorded'));
      const serving = await serve(t, folder, data);
      assert.ok(CORE_READS.length > 10);
      for (const { name, request, answer } of CORE_READS) {
        const received = readAnswer(await send(serving.port, toRequest(request)));
        assert.deepEqual(received, answer, name);
      }
      assert.equal(await serving.stop('SIGTERM'), 0);
      const found = await runIn(folder, 'src/seller-api.js', 'doctor', '--data', data);
      assert.match(found, /^No (?:faults|problems)/m);
    });
  }
});

test('a pair has no file of a third room', () => {
  const singles = new Map(SINGLES.map((single) => [nameOf(single), planSource(single)]));
  for (const pair of PAIRS) {
    const trees = [...pair].map((room) => singles.get(room));
    const added = [...planSource(pair).keys()].filter((path) =>
      !trees.some((tree) => tree?.has(path)));
    const others = ROOMS.filter((room) => !pair.has(room)).flatMap((room) =>
      [`src/${room}/`, `src/features/${room}/`, `src/features/portal/${room}/`]);
    const foreign = added.filter((path) => others.some((folder) => path.startsWith(folder)));
    assert.deepEqual(foreign, [], nameOf(pair));
  }
});

describe('the tests of a selection', () => {
  for (const selection of TESTED) {
    test(`pass in ${nameOf(selection)}`, { timeout: 1_100_000 }, async (t) => {
      const folder = makeTree(t, selection);
      const failures = join(folder, 'failures.txt');
      const output = await runIn(folder, 'test/run.ts',
        '--jobs', '2', '--failures', failures, 'test/**/*.test.ts');
      if (existsSync(failures)) assert.equal(readFileSync(failures, 'utf8'), '');
      assert.match(output, /\d+ passed, 0 failed, /, output.slice(-4_000));
    });
  }
});

function serve(t: TestContext, folder: string, data: string): Promise<Serving> {
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, TOKEN, { mode: 0o600 });
  return watchServing(t, spawn(process.execPath, [
    'src/main.ts', 'serve', '--json', '--port', '0', '--data', data,
  ], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SELLER_API_METRICS_TOKEN_FILE: tokenFile },
  }));
}
