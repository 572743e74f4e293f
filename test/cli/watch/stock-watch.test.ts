/** How a watcher of stock files handles responses, and files that an earlier watcher left. */
import assert from 'node:assert/strict';
import {
  appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync,
} from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { watchStock } from '../../../src/cli/watch/stock-watch.ts';
import { WatchedFolder } from '../../../src/cli/watch/watched-folder.ts';
import { SellerClient } from '../../../src/client/index.ts';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { makeFolder } from '../../support/folder.ts';
import { startFakeServer } from '../transfer/fake-server.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
const HOUR_MS = 60 * 60 * 1000;
const KEY = generateApiKey();
const SUMMARY = { applied: 1, unchanged: 0, failed: 0, position: 7, import: 'imp_1' };

interface Request {
  readonly key: unknown;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Setting {
  readonly folder: string;
  readonly notes: string[];
  readonly out: string[];
  /** The requests that the server received. */
  readonly requests: Request[];
  /** The address to which the watcher sends its requests; by default the fake server. */
  url: string;
  nowMs: number;
  /** The monotonic clock. */
  passedMs: number;
  /** Called before each wait: it may change the setting. */
  onWait: (ms: number) => void;
  /** Runs a watcher until there is nothing left to send, or `stop` is called. */
  watch(options?: object): Promise<void>;
  stop(): void;
  /** The files in a folder, without prefixes. */
  list(name: string): string[];
  readReport(name: 'done' | 'rejected'): any;
}

async function openSetting(
  t: TestContext, ...answers: readonly RequestListener[]
): Promise<Setting> {
  const folder = makeFolder(t);
  const requests: Request[] = [];
  const url = await startFakeServer(t, ...answers.map((answer): RequestListener =>
    async (request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://x');
      const body = (await buffer(request)).toString();
      const key = request.headers['idempotency-key'];
      requests.push({ key, body, query: Object.fromEntries(searchParams) });
      answer(request, response);
    }));
  let controller = new AbortController();
  const setting: Setting = {
    folder, notes: [], out: [], requests, url, nowMs: NOW, passedMs: 0,
    onWait: () => {},
    stop: () => controller.abort(),
    async watch(options = {}) {
      controller = new AbortController();
      using watched = new WatchedFolder(folder, {
        settleMs: 0, clock: () => setting.nowMs, timer: () => 0,
        isWanted: () => true, onIgnored: () => {},
      });
      await watchStock({
        folder: {
          next() {
            const claim = watched.next();
            if (!claim) controller.abort();
            return claim;
          },
          publish: (claim) => watched.publish(claim),
        },
        client: new SellerClient({ baseUrl: setting.url, key: KEY, retries: 0 }),
        options, format: 'ndjson', signal: controller.signal, intervalMs: 0,
        input: {
          io: process, isJson: false, note: (text) => void setting.notes.push(text),
          out: (text) => void setting.out.push(text),
        },
        clock: Object.assign(() => setting.nowMs, { monotonic: () => setting.passedMs }),
        wait: async (ms) => {
          if (ms > 0) setting.onWait(ms); // 0: it looked at an empty folder
        },
      });
    },
    list: (name) => readdirSync(join(folder, name)).map((entry) =>
      entry.replace(/^\d{8}T\d{6}Z-[\da-f]{8}-/, '')).sort(),
    readReport(name) {
      const report = readdirSync(join(folder, name)).find((entry) => entry.endsWith('report.json'));
      return JSON.parse(readFileSync(join(folder, name, report ?? ''), 'utf8'));
    },
  };
  writeFileSync(join(folder, 'stock.ndjson'), '{"sku":"MUG-1","adjust":-1}\n');
  return setting;
}

const accept: RequestListener = (_, response) => {
  response.end(`${JSON.stringify({ summary: SUMMARY })}\n`);
};

function problem(status: number, code: string, members: object = {}): RequestListener {
  const type = `urn:problem-type:seller-product-api:${code.replaceAll('_', '-')}`;
  return (_, response) => void response
    .writeHead(status, { 'content-type': 'application/problem+json' })
    .end(JSON.stringify({ type, title: 'Title', status, detail: 'Detail.', ...members }));
}

test('publishes a file with its report in done/', async (t) => {
  const setting = await openSetting(t, accept);
  await setting.watch({ source: 'till', complete: false });
  assert.deepEqual(setting.list('done'), ['stock.ndjson', 'stock.ndjson.report.json']);
  assert.deepEqual(setting.list('rejected'), []);
  const { idempotency_key: key, ...report } = setting.readReport('done');
  assert.equal(setting.requests[0]?.key, `"${key}"`);
  assert.deepEqual(setting.requests[0]?.query, {
    source: 'till', complete: 'false', report: 'failed', file_name: 'stock.ndjson',
  });
  assert.deepEqual(report, {
    file: 'stock.ndjson', status: 'applied',
    started_at: '2026-01-31T12:00:00.000Z', finished_at: '2026-01-31T12:00:00.000Z',
    options: { source: 'till', complete: false },
    summary: { ...SUMMARY, ignored_columns: [] }, rejected_rows: [],
  });
  assert.match(setting.out.join(), /^stock\.ndjson: 1 applied.* It is now .*stock\.ndjson/);
});

test('says what the server notes, such as that nothing was applied', async (t) => {
  const notes = ['Nothing to apply: the file has no rows.'];
  const duplicates = {
    duplicates: 21, duplicate_rows: [{ line: 3, sku: 'MUG-1', previous_line: 2 }],
  };
  const summary = { ...SUMMARY, applied: 0, ...duplicates, unknown_ids: 2, notes };
  const setting = await openSetting(t, (_, response) => {
    response.end(`${JSON.stringify({ summary })}\n`);
  });
  await setting.watch();
  assert.deepEqual(setting.readReport('done').summary, { ...summary, ignored_columns: [] });
  assert.deepEqual(setting.notes, [`stock.ndjson: ${notes[0]}`]);
});

test('sends rejected rows of a stocktake as ordinary changes', async (t) => {
  const setting = await openSetting(t, (_, response) => {
    response.end(`${JSON.stringify({ summary: { ...SUMMARY, zeroed: 0 } })}\n`);
  });
  const name = '20260131T120000Z-01234567-stock.failed.ndjson';
  renameSync(join(setting.folder, 'stock.ndjson'), join(setting.folder, name));
  writeFileSync(join(setting.folder, 'stock.ndjson'), '{"sku":"MUG-1","set":1}\n');
  await setting.watch({ complete: true, force: true, source: 'till' });
  const sent = new Map(setting.requests.map(({ query }) => [query['file_name'], query]));
  assert.deepEqual(sent.get(name), { source: 'till', report: 'failed', file_name: name });
  assert.equal(sent.get('stock.ndjson')?.['complete'], 'true');
});

test('warns of a file that was still being written', async (t) => {
  const setting = await openSetting(t, (request, response) => {
    const [claim = ''] = readdirSync(join(setting.folder, 'sending')).filter((name) =>
      name !== '.lock');
    appendFileSync(join(setting.folder, 'sending', claim, 'stock.ndjson'), '{"sku":"CUP-1"');
    accept(request, response);
  });
  await setting.watch();
  assert.match(setting.readReport('done').warning, /^The file changed while it was sent/);
  assert.match(setting.notes.join(), /^stock\.ndjson: The file changed while it was sent/);
});

const drops: RequestListener = (_, response) => void response.destroy();
const ends: RequestListener = (_, response) => void response
  .end(`${JSON.stringify({ problem: { title: 'Stopping', status: 503, detail: 'Later.' } })}\n`);

test('waits while the server has a problem, and retries with the same key', async (t) => {
  const setting = await openSetting(
    t, drops, problem(503, 'unavailable'), problem(507, 'storage_full'), problem(500, 'internal'),
    problem(429, 'rate_limited'), ends, accept,
  );
  const waits: number[] = [];
  setting.onWait = (ms) => void waits.push(ms);
  await setting.watch();
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000]);
  assert.equal(setting.notes.length, 6);
  assert.match(setting.notes[1] ?? '', /^Title\. Detail\. Retrying stock\.ndjson in 2/);
  assert.equal(new Set(setting.requests.map(({ key }) => key)).size, 1);
  assert.deepEqual(setting.list('done'), ['stock.ndjson', 'stock.ndjson.report.json']);
});

test('waits for a server that is down, however long, before it has sent anything', async (t) => {
  const setting = await openSetting(t, accept);
  const { url } = setting;
  setting.url = 'http://127.0.0.1:2';
  setting.onWait = () => {
    setting.nowMs += 100 * HOUR_MS;
    if (setting.notes.length === 3) setting.stop();
  };
  await setting.watch();
  assert.match(setting.notes[0] ?? '', /^No server at .* Retrying stock\.ndjson in 1/);
  assert.equal(setting.list('sending').length, 2);
  setting.url = url;
  await setting.watch();
  assert.deepEqual(setting.list('done'), ['stock.ndjson', 'stock.ndjson.report.json']);
});

test('continues with the key and the options of the first attempt', async (t) => {
  const setting = await openSetting(t, drops, accept);
  setting.onWait = () => setting.stop();
  await setting.watch({ source: 'till' });
  assert.deepEqual([setting.list('done'), setting.list('rejected')], [[], []]);
  setting.nowMs += 46 * HOUR_MS;
  await setting.watch({ source: 'other', reason: 'new' });
  assert.equal(setting.requests.length, 2);
  assert.deepEqual(setting.requests[1], setting.requests[0]);
});

test('does not send a file again after two days in which the clock was set back', async (t) => {
  const setting = await openSetting(t, drops, drops, accept);
  setting.nowMs += 72 * HOUR_MS;
  const waits: number[] = [];
  setting.onWait = (ms) => {
    if (waits.push(ms) === 1) setting.nowMs -= 72 * HOUR_MS;
    else setting.passedMs += 48 * HOUR_MS;
  };
  await setting.watch();
  assert.deepEqual([setting.requests.length, waits.length], [2, 2]);
  assert.equal(setting.readReport('rejected').status, 'unknown');
});

test('does not send a file again after the server may have deleted its key', async (t) => {
  const setting = await openSetting(t, drops, accept);
  setting.onWait = () => { setting.nowMs += 48 * HOUR_MS; };
  await setting.watch();
  assert.equal(setting.requests.length, 1);
  const { status, error } = setting.readReport('rejected');
  assert.equal(status, 'unknown');
  assert.match(error.detail, /^It was sent at 2026-01-31T12:00:00\.000Z, and no response arrived/);
  const [note = ''] = setting.notes.slice(-1);
  assert.match(note, /^stock\.ndjson may not have been applied: It was sent at/);
});

const rejections: readonly [name: string, answer: RequestListener][] = [
  ['an invalid file', problem(400, 'invalid_data')],
  ['a missing column of --map', problem(400, 'invalid_query', {
    errors: [{ parameter: 'map', code: 'unknown', detail: 'No such column.' }],
  })],
  ['a stocktake', (_, response) => void response.end(`${JSON.stringify({ problem: {
    type: 'urn:problem-type:seller-product-api:sync-refused', status: 409, title: 'Title',
    detail: 'Detail.', summary: { applied: 3 },
  } })}\n`)],
  ['a workbook without the sheet', problem(400, 'invalid_query', {
    errors: [{ parameter: 'sheet', code: 'unknown', detail: 'The workbook has no sheet "A".' }],
  })],
];
for (const [name, answer] of rejections) {
  test(`publishes the file and the reason in rejected/ for ${name}`, async (t) => {
    const setting = await openSetting(t, answer);
    await setting.watch();
    assert.deepEqual(setting.list('rejected'), ['stock.ndjson', 'stock.ndjson.report.json']);
    const { status, error } = setting.readReport('rejected');
    assert.equal(status, 'rejected');
    assert.match(error.detail, /^(?:Title\. Detail\.|--(?:map|sheet): )/);
    assert.equal(error.problem.title, 'Title');
    assert.equal(setting.requests.length, 1);
  });
}

const stops: readonly [name: string, answer: RequestListener, says: RegExp][] = [
  ['an invalid key', problem(401, 'key_unknown'), /^CommandFailure: Title\. Detail\./],
  ['a missing scope', problem(403, 'scope_missing'), /stays at .*, and the next start continues/],
  ['a malformed --map', problem(400, 'invalid_query', {
    errors: [{ parameter: 'map', code: 'format', detail: 'Name one column.' }],
  }), /--map: Name one column\./],
  ['a wrong flag', problem(400, 'invalid_query', {
    errors: [{ parameter: 'source', code: 'length', detail: 'Too long.' }],
  }), /--source: Too long\./],
  ['another server', (_, response) => void response.writeHead(404).end('?'), /Is --url right\?/],
];
for (const [name, answer, says] of stops) {
  test(`stops at ${name}, and keeps the file for the next start`, async (t) => {
    const setting = await openSetting(t, answer, accept);
    await assert.rejects(setting.watch(), says);
    assert.deepEqual([setting.list('done'), setting.list('rejected')], [[], []]);
    await setting.watch();
    assert.deepEqual(setting.list('done'), ['stock.ndjson', 'stock.ndjson.report.json']);
    assert.equal(setting.requests[1]?.key, setting.requests[0]?.key);
  });
}
