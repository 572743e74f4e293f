/** The driver and all its processes end, however the test ends. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { makeFolder } from '../support/folder.ts';
import { MISSING_BROWSER, startDriver } from './driver.ts';
import { Session } from './session.ts';
import { waitFor } from './wait.ts';

const BROWSER = new URL('browser.ts', import.meta.url);
const OPEN_BROWSER = `
  const { openBrowser } = await import('${BROWSER}');
  const { test } = await import('node:test');
  test('opens', async (t) => {
    await openBrowser(t);
    console.error('opened');`;

test('ends the browser of a process whose test fails', async (t) => {
  const folder = makeFolder(t);
  const child = run(`${OPEN_BROWSER} throw new Error('fails'); });`, folder);
  const [[opened], [status]] = await Promise.all([once(child.stderr, 'data'), once(child, 'exit')]);
  assert.equal(String(opened), 'opened\n');
  assert.equal(status, 1);
  await waitForNoProcess(folder);
  assert.deepEqual(readdirSync(folder), []);
});

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`ends the browser of a process that ${signal} ends`, async (t) => {
    const folder = makeFolder(t);
    const wait = 'setInterval(() => {}, 1000); await new Promise(() => {}); });';
    const child = run(OPEN_BROWSER + wait, folder);
    await once(child.stderr, 'data');
    assert.ok(findProcesses(folder).length > 0);
    child.kill(signal);
    assert.deepEqual(await once(child, 'exit'), [null, signal]);
    await waitForNoProcess(folder);
  });
}

test('ends the browser of a file that fails before its tests', async (t) => {
  const folder = makeFolder(t);
  const child = run(`const { openBrowser } = await import('${BROWSER}');
    const { after } = await import('node:test');
    await openBrowser({ after });
    throw new Error('fails');`, folder);
  assert.notDeepEqual(await once(child, 'exit'), [0, null]);
  await waitForNoProcess(folder);
});

test('retries if another process took the port', async (t) => {
  const folder = makeFolder(t);
  const driver = join(folder, 'driver');
  writeFileSync(driver, `#!/bin/sh
    if mkdir '${folder}/tried'; then echo 'IPv4 port not available. Exiting...'; exit 1; fi
    echo 'ChromeDriver was started successfully on port 7.'
    read -r _ < '${folder}/forever'`, { mode: 0o700 });
  assert.equal(spawnSync('mkfifo', [join(folder, 'forever')]).status, 0);
  const { url, end } = await startDriver(folder, driver);
  assert.equal(url, 'http://127.0.0.1:7');
  await end();
  await waitForNoProcess(folder);
});

test('gets one command of a session at a time', async (t) => {
  const events: string[] = [];
  const server = createServer(async ({ url }, response) => {
    events.push(`begins ${url}`);
    await pause(20); // others would arrive by then
    events.push(`ends ${url}`);
    response.writeHead(url === '/s/b' ? 404 : 200);
    response.end(JSON.stringify({ value: { error: 'no such element', message: 'none' } }));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const session = new Session(`http://127.0.0.1:${port}/s`);
  const sent = ['/a', '/b', '/c'].map((path) => session.command('GET', path));
  const outcomes = await Promise.allSettled(sent);
  assert.deepEqual(outcomes.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled']);
  assert.deepEqual(events, [
    'begins /s/a', 'ends /s/a', 'begins /s/b', 'ends /s/b', 'begins /s/c', 'ends /s/c',
  ]);
});

test('names the package to install if there is no driver', async (t) => {
  await assert.rejects(startDriver(makeFolder(t), 'no-such-driver'), { message: MISSING_BROWSER });
});

test('reports the output of a driver that ends early', async (t) => {
  await assert.rejects(startDriver(makeFolder(t), 'echo'), /chromedriver ended early: --port=0/);
});

/** Runs a script whose browsers keep their profiles below `folder`. */
function run(script: string, folder: string) {
  const { NODE_TEST_CONTEXT: _context, TEST_WORKER: _worker, ...environment } = process.env;
  return spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'ignore', 'pipe'], env: { ...environment, TMPDIR: folder },
  });
}

/** Running processes whose arguments have a path below `folder`. */
function findProcesses(folder: string): string[] {
  return globSync('/proc/[0-9]*/cmdline').filter((path) => {
    try {
      return readFileSync(path, 'utf8').includes(folder);
    } catch {
      return false;
    }
  });
}

function waitForNoProcess(folder: string): Promise<boolean> {
  return waitFor('the end of the browser', async () => findProcesses(folder).length === 0);
}
