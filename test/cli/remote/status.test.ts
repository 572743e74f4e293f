/** `status`, `open` and `openapi`, with and without a running server. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { program, run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { listenUntilEnd } from '../../support/listening.ts';
import { openShop } from '../shop.ts';

const READY = /^ok {2}server {2}http:\S+, API version \d\S*\nok {2}ready {3}can read and write\n/;

test('status checks the server, and the key if there is one', async (t) => {
  const shop = await openShop(t);
  const { status, out, notes } = await shop.run('status');
  assert.deepEqual([status, notes], [0, '']);
  assert.match(out, READY);
  assert.match(out, /^ok {2}key {5}valid, for a catalogue at position 0\n/m);
  const url = { SELLER_API_URL: shop.url };
  const limited = await shop.server.makeSeller({ scopes: ['stock:write'] });
  const [open, unknown, scoped] = await Promise.all([
    run(['status', '--json'], url),
    run(['status', '--json'], { ...url, SELLER_API_KEY: generateApiKey() }),
    run(['status'], { ...url, SELLER_API_KEY: limited.key }),
  ]);
  assert.equal(open.status, 0, 'a health check needs no key');
  const report = JSON.parse(open.out);
  assert.deepEqual([report.status, report.checks.length], ['ok', 2]);
  assert.equal(unknown.status, 1);
  assert.match(unknown.notes, /^key: The API key is not valid\. /);
  assert.deepEqual(JSON.parse(unknown.out).checks.map((check: { status: string }) => check.status),
    ['ok', 'ok', 'fault']);
  assert.match(scoped.out, /^ok {2}key {5}valid, without the scope products:read\n/m);
});

test('status fails without a server, with a foreign server, and with another path', async (t) => {
  const shop = await openShop(t);
  const other = await listenUntilEnd(t, (_, response) => void response.end('{"hello":1}'));
  const page = await listenUntilEnd(t, (_, response) => void response.end('<h1>It works</h1>'));
  const says = [
    ['http://127.0.0.1:2', /^server: No server at http:\/\/127\.0\.0\.1:2 /],
    [other, /^server: .* responds, but not like a Seller Product API server\. Is --url right, /],
    [`${shop.url}/shop`, /^server: .* Is --url right, with its path\?/],
    [page, /^server: .*not like a Seller Product API server\. Is --url right\?/],
  ] as const;
  for (const [url, expected] of says) {
    const { status, out, notes } = await run(['status', '--url', url]);
    assert.deepEqual([status, out], [1, '']);
    assert.match(notes, expected);
  }
});

test('open starts the browser with the address of the portal, or prints it', async (t) => {
  const shop = await openShop(t, { portal: true });
  const portal = `${shop.url}/portal`;
  const folder = makeFolder(t);
  const [opener, opened] = [join(folder, 'xdg-open'), join(folder, 'opened')];
  const record = `printf %s "$*" > '${opened}.part'; mv '${opened}.part' '${opened}'`;
  writeFileSync(opener, `#!/bin/sh\n${record}\n`, { mode: 0o755 });
  const desktop = {
    SELLER_API_URL: shop.url, DISPLAY: ':0', PATH: `${folder}${delimiter}/usr/bin:/bin`,
  };
  const printed = await run(['open', '--print'], desktop);
  assert.deepEqual([printed.status, printed.out], [0, `${portal}\n`]);
  const headless = await run(['open'], { ...desktop, DISPLAY: '' });
  assert.equal(headless.out, `${portal}\n`);
  const missing = await run(['open'], { ...desktop, PATH: makeFolder(t) });
  assert.equal(missing.out, `${portal}\n`);
  assert.equal(existsSync(opened), false);
  const { status, out } = await run(['open'], desktop);
  assert.deepEqual([status, out], [0, `Opening ${portal} in your browser.\n`]);
  while (!existsSync(opened)) await wait(5);
  assert.equal(readFileSync(opened, 'utf8'), portal);
});

test('open reports a server without a portal', async (t) => {
  const shop = await openShop(t, {});
  const { status, notes } = await shop.run('open');
  assert.equal(status, 1);
  assert.match(notes, /^The server at \S+ has no portal \(serve --no-portal\)\.$/m);
});

test('openapi prints the document of this version offline, or that of a server', async (t) => {
  const shop = await openShop(t, { webhooks: {} });
  const home = makeFolder(t);
  const [offline, remote, json] = await Promise.all([
    run(['openapi'], { SELLER_API_URL: '', XDG_CONFIG_HOME: home }),
    shop.run('openapi'), shop.run('openapi', '--json'),
  ]);
  const document = JSON.parse(offline.out);
  assert.ok(document.paths['/api/v1/products'].get);
  assert.deepEqual(JSON.parse(remote.out), JSON.parse(json.out));
  assert.deepEqual(JSON.parse(json.out).paths, document.paths);
  assert.equal(json.out.trimEnd().split('\n').length, 1);
});

const hasScript = spawnSync('script', ['--version']).status === 0;

test('colors only a terminal, and only without NO_COLOR', {
  skip: !hasScript && 'needs script (util-linux)',
}, async (t) => {
  const shop = await openShop(t);
  const command = `'${program('status').flat().join("' '")}'`;
  // Node treats CI as a terminal without colors.
  const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...environment } = process.env;
  const show = async (settings: NodeJS.ProcessEnv): Promise<string> =>
    (await promisify(execFile)('script', ['-qec', command, '/dev/null'], {
      env: { ...environment, ...shop.environment, TERM: 'xterm', ...settings },
    })).stdout;
  assert.match(await show({}), /^\x1b\[32mok\x1b\[39m {2}server/);
  assert.match(await show({ NO_COLOR: '1' }), /^ok {2}server/);
  assert.match((await shop.run('status')).out, /^ok {2}server/);
});
