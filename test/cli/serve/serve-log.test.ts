/** The log of a real server: its lines, its level on SIGUSR2, and a blocked reader. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { program, run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { findSchemaErrors } from '../../features/openapi/json-schema.ts';
import { PageClient } from '../../features/portal/page-client.ts';
import { createKey, createSeller } from '../setup.ts';

const PATH = '/api/v1/products';
const SCHEMA = JSON.parse(readFileSync(
  new URL('../../../src/features/telemetry/log.schema.json', import.meta.url), 'utf8',
));

/** The lines of the log, which are as the published schema describes them. */
function parseLines(notes: string): any[] {
  const lines = notes.split('\n').filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  for (const line of lines) assert.deepEqual(findSchemaErrors(line, SCHEMA, SCHEMA), []);
  return lines;
}

async function prepare(t: TestContext) {
  const folder = makeFolder(t);
  await createSeller(folder);
  return { folder, key: await createKey(folder) };
}

test('writes one line per request, with its trace and without text from the client', async (t) => {
  const { folder, key: { id, key } } = await prepare(t);
  const serving = await startServing(t, ['--data', folder, '--log', 'info']);
  const canary = 'canary0123456789';
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const headers = { 'x-api-key': key, cookie: canary, 'user-agent': canary, traceparent };
  await send(serving.port, { path: `${PATH}?q=${canary}`, headers });
  await send(serving.port, { path: `${PATH}/sku/${canary}`, headers });
  await send(serving.port, { path: `/${canary}`, headers });
  await send(serving.port, { path: PATH, headers: { 'x-api-key': `${key}x` } });
  assert.equal(await serving.stop('SIGTERM'), 0);
  const notes = serving.notes();
  assert.ok(!notes.includes(canary) && !notes.includes(key), notes);
  const lines = parseLines(notes);
  assert.equal(lines.length, notes.trimEnd().split('\n').length, 'all of it is the log');
  const requests = lines.filter(({ event }) => event === 'request');
  assert.deepEqual(requests.map(({ level, method, route, status, code }) =>
    [level, method, route, status, code]), [
    ['info', 'GET', PATH, 200, undefined],
    ['info', 'GET', `${PATH}/sku/{sku}`, 404, 'not_found'],
    ['info', 'GET', 'unknown', 404, 'not_found'],
    ['info', 'GET', PATH, 401, 'key_malformed'],
  ]);
  const [first] = requests;
  assert.deepEqual([first.key, first.address, first.complete], [id, '127.0.0.1', true]);
  assert.match(first.seller, /^sel_/);
  assert.match(first.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(first.duration_ms > 0 && first.bytes > 0);
  assert.deepEqual([first.trace_id, first.parent_span_id], traceparent.split('-').slice(1, 3));
  assert.notEqual(first.span_id, first.parent_span_id);
  assert.deepEqual(lines.slice(-2).map(({ event, message }) => [event, message]), [
    ['notice', 'Stopping: finishing requests in flight.'], ['notice', 'Stopped.'],
  ]);
});

test('logs failed sign-ins at its default level, without text from the client', async (t) => {
  const { folder } = await prepare(t);
  const serving = await startServing(t, ['--data', folder]);
  const user = new PageClient(serving.port);
  await user.get('/portal/sign-in');
  await user.submit({ email: 'anna@shop.example', password: 'wrong' });
  assert.equal(user.page?.status, 422);
  assert.equal(await serving.stop('SIGTERM'), 0);
  const [line, ...others] = parseLines(serving.notes());
  assert.deepEqual([line.level, line.event, others], ['warn', 'sign_in_failed', []]);
  assert.deepEqual(Object.keys(line), ['time', 'level', 'event']); // nothing of the client
});

test('changes its level on SIGUSR2, and logs it', async (t) => {
  const { folder } = await prepare(t);
  const serving = await startServing(t, ['--data', folder]);
  const levels = ['warn', 'info', 'debug', 'off', 'error'];
  for (const level of levels) {
    serving.child.kill('SIGUSR2');
    await serving.waitForNote(new RegExp(`The log level is now ${level}\\.`));
    await send(serving.port, { path: `/${level}` });
    await send(serving.port, { path: '/healthz' });
  }
  assert.equal(await serving.stop('SIGTERM'), 0);
  const lines = parseLines(serving.notes());
  assert.deepEqual(lines.map(({ event, route }) => route ?? event), [
    'log_level', 'log_level', 'unknown', 'log_level', 'unknown', '/healthz', 'log_level',
    'log_level',
  ]);
  assert.match(serving.notes(), /^Stopping: finishing requests in flight\.\nStopped\.$/m);
});

test('opens no debugger on SIGUSR1', async (t) => {
  const serving = await startServing(t, ['--data', makeFolder(t)]);
  serving.child.kill('SIGUSR1');
  serving.child.kill('SIGUSR2');
  await serving.waitForNote(/The log level is now warn\./);
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.doesNotMatch(serving.notes(), /Debugger|inspector/);
});

test('keeps serving while its log is not read, and stops on SIGTERM', async (t) => {
  const { folder } = await prepare(t);
  const serving = await startServing(t, ['--data', folder, '--log', 'info']);
  const { child } = serving;
  child.stderr?.pause();
  for (let round = 0; round < 20; round += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, () =>
      send(serving.port, { path: '/' })));
    assert.ok(answers.every(({ status }) => status !== 500));
  }
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  child.stderr?.destroy();
});

test('keeps serving if its log cannot be written', async (t) => {
  const { folder, key: { key } } = await prepare(t);
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const args = ['serve', '--port', '0', '--json', '--data', folder, '--log', 'info'];
  const child = spawn(...program(...args), { stdio: ['ignore', 'pipe', full] });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout ?? child, 'data');
  const { url } = JSON.parse(String(line));
  for (let n = 0; n < 3; n += 1) {
    const answer = await fetch(url + PATH, { headers: { 'x-api-key': key } });
    assert.equal(answer.status, 200);
  }
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

test('rejects an unknown log level', async (t) => {
  const { status, out, notes } = await run(['serve', '--log', 'loud', '--data', makeFolder(t)]);
  assert.match(notes, /^--log takes off, error, warn, info or debug, not "loud"\./);
  assert.deepEqual([status, out], [2, '']);
});
