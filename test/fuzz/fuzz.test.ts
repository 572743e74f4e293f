/**
 * A short run of `make fuzz`, with a fixed seed unless FUZZ_SEED is set, and tests that the fuzzer
 * detects a defective server.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../support/http.ts';
import { startServer } from '../support/server.ts';
import type { Case } from './case.ts';
import { assertResponse } from './assert-response.ts';
import { findParserFailure } from './parse-run.ts';
import { runCases } from './run.ts';
import { MARKUP, SPLIT_FIELD } from './values.ts';
import { Watch } from './watch.ts';
import { makeWorld } from './world.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const REQUESTS = 900;
const TEXTS = 12_000;

test('answers any input without a 500, a crash, foreign data or a write by a rejected request',
  async (t) => {
    t.diagnostic(`FUZZ_SEED=${SEED}`);
    const { cases, findings, reached } = await runCases(t, {
      seed: SEED, shouldContinue: (number) => number < REQUESTS,
    });
    assert.deepEqual(findings, [], `with FUZZ_SEED=${SEED}`);
    assert.equal(cases, REQUESTS);
    const good = [...reached.values()].filter(Boolean);
    assert.ok(good.length > 50, 'few routes answered with success');
  });

test('parses or rejects any input', async (t) => {
  t.diagnostic(`FUZZ_SEED=${SEED}`);
  for (let n = 0; n < TEXTS; n += 1) {
    assert.equal(await findParserFailure(SEED + n), undefined);
  }
});

test('detects a parser that fails, and minimizes its input', async () => {
  const failing = {
    samples: ['{"a":"b"}'],
    check(text: string) {
      if (text.includes('\\')) throw new TypeError('broken');
    },
  };
  const failures: string[] = [];
  for (let seed = 0; seed < 300; seed += 1) {
    const failure = await findParserFailure(seed, { failing });
    if (failure !== undefined) failures.push(failure);
  }
  assert.ok(failures.length > 0);
  // The input is minimized to the one character that the parser fails on.
  for (const failure of failures) {
    assert.match(failure, /^failing .*TypeError: broken\n {2}"\\\\"$/);
  }
});

test('detects a response that breaks an invariant', async (t) => {
  const world = await makeWorld(t);
  const one: Case = {
    label: '', bytes: Buffer.from('GET /api/v1/products HTTP/1.1\r\n\r\n'), from: '', isPage: false,
    method: 'GET', until: 'answer', operation: { method: 'GET', path: '/api/v1/products' },
  };
  const page = { 'content-security-policy': "default-src 'none'" };
  const html = {
    'content-type': 'text/html', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff',
  };
  const problem = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };
  const body = { type: 'urn:problem-type:x', title: 'A title', status: 404, detail: 'No.' };
  const answer = (status: number, headers: Answer['headers'], text: string): Answer =>
    ({ status, headers, text, json: () => JSON.parse(text) });
  const { operation: _, ...unknown } = one;
  const told = JSON.stringify({ ...body, detail: 'Do that, please.' });
  assertResponse(unknown, answer(404, problem, told), world);
  assertResponse(unknown, answer(404, { ...html, ...page }, '<h1>No</h1></html>'), world);
  const [mark = ''] = world.silent.marks;
  for (const [what, wrong] of [
    [/the status 500/, answer(500, problem, JSON.stringify({ ...body, status: 500 }))],
    [/when to retry/, answer(503, problem, JSON.stringify({ ...body, status: 503 }))],
    [/another status/, answer(400, problem, JSON.stringify(body))],
    [/detail/, answer(404, problem, JSON.stringify(body))],
    [/rejected with 404 as text\/plain/, answer(404, { 'content-type': 'text/plain' }, 'No.')],
    [/another seller's/, answer(200, {}, `x ${mark.toUpperCase()}`)],
    [/another seller's/, answer(200, { etag: `"${mark}"` }, '')],
    [/injected a response header/, answer(200, { [SPLIT_FIELD]: '1' }, '')],
    [/unescaped markup/, answer(200, { ...html, ...page }, MARKUP)],
    [/no policy/, answer(200, html, '')],
    [/a truncated page/, answer(404, { ...html, ...page }, '<h1>No</h1>')],
    [/redirects outside the portal/, answer(303, { location: 'https://x.example/portal' }, '')],
  ] as const) assert.throws(() => assertResponse(unknown, wrong, world), what);
  const undescribed = answer(200, { 'content-type': 'application/json' }, '{"products":1}');
  assert.throws(() => assertResponse(one, undescribed, world), /cache-control|products/);
});

test('detects changed rows', async (t) => {
  const server = await startServer(t);
  const [seller, other] = [await server.makeSeller(), await server.makeSeller()];
  await seller.create();
  await other.create();
  const watch = new Watch(server.folder);
  t.after(() => watch.close());
  const readState = () => [watch.summarize(), watch.digestSeller(other.sellerId)];
  const before = readState();
  assert.equal((await seller.create({ price: 'x' })).status, 400);
  assert.deepEqual(readState(), before);
  await seller.create();
  const [after, digest] = readState();
  assert.notEqual(after, before[0]);
  assert.equal(digest, before[1]);
  const { id } = (await other.create()).json();
  await other.send({ method: 'DELETE', path: `/api/v1/products/${id}` });
  assert.notEqual(watch.digestSeller(other.sellerId), digest);
});
