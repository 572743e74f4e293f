/** The examples for systemd and nginx, run where their tools are installed. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { createKey, createSeller } from './cli/setup.ts';
import { makeCertificate } from './support/certificate.ts';
import { startServing } from './support/command.ts';
import { makeFolder } from './support/folder.ts';
import { findFreePort } from './support/listening.ts';

const ROOT = join(import.meta.dirname, '..');
const GUIDE = readFileSync(join(ROOT, 'src/cli/serve/README.md'), 'utf8');
const ROWS = 20_000;

function findExample(name: string): string {
  const [, example] = new RegExp(`<!-- example: ${name} -->\n\`\`\`\\w*\n(.*?)\`\`\``, 's')
    .exec(GUIDE) ?? [];
  return example ?? assert.fail(`The guide has no example ${name}.`);
}

function isMissing(command: string): string | false {
  return spawnSync(command, ['--version']).error ? `no ${command} here` : false;
}

test('systemd accepts the units, which confine the server', {
  skip: isMissing('systemd-analyze'),
}, (t) => {
  const folder = makeFolder(t);
  const names = ['seller-api.service', 'seller-api.socket', 'seller-api-redirect.socket'];
  const paths = names.map((name) => {
    const path = join(folder, name);
    writeFileSync(path, findExample(name).replaceAll('/usr/bin/node', process.execPath));
    return path;
  });
  const verified = spawnSync('systemd-analyze', ['verify', ...paths], { encoding: 'utf8' });
  assert.deepEqual([verified.status, verified.stderr], [0, '']);
  const [service = ''] = paths;
  const args = ['security', '--offline=true', '--threshold=15', service];
  const rated = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  assert.equal(rated.status, 0, rated.stdout);
  assert.match(rated.stdout, /Overall exposure level for seller-api\.service: (?:0|1\.[0-5]) OK/);
});

/** Runs nginx with the configuration of the guide, with the paths of this test. */
async function startNginx(t: TestContext, folder: string, port: number): Promise<string> {
  const { cert, key } = makeCertificate();
  const write = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const places: Readonly<Record<string, string>> = {
    '/run/seller-api/api.sock': join(folder, 'api.sock'), 'listen 443': `listen 127.0.0.1:${port}`,
    '/etc/seller-api/cert.pem': write('cert.pem', cert),
    '/etc/seller-api/key.pem': write('key.pem', key),
  };
  let lines = findExample('nginx');
  for (const [shown, own] of Object.entries(places)) {
    assert.ok(lines.includes(shown), shown);
    lines = lines.replaceAll(shown, own);
  }
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n');
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const configuration = write('nginx.conf', `${user} daemon off; pid ${join(folder, 'pid')};
    events {} http { access_log off; ${folders} ${lines} }`);
  const log = join(folder, 'error.log');
  const child = spawn('nginx', ['-e', log, '-c', configuration], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const pid = join(folder, 'pid');
  for (let n = 0; n < 500 && !existsSync(pid) && child.exitCode === null; n += 1) {
    await new Promise((resolve) => { setTimeout(resolve, 20); });
  }
  assert.ok(existsSync(pid), existsSync(log) ? readFileSync(log, 'utf8') : 'nginx does not start');
  return cert;
}

test('nginx as a proxy passes on addresses, long imports and live changes', {
  skip: isMissing('nginx'),
}, async (t) => {
  const folder = makeFolder(t);
  const data = join(folder, 'data');
  await createSeller(data);
  const { key } = await createKey(data, ['--allow', '127.0.0.1']);
  const port = await findFreePort();
  await startServing(t, [
    '--data', data, '--socket', join(folder, 'api.sock'), '--trusted-proxies', 'unix',
    '--base-url', `https://localhost:${port}`,
  ]);
  const ca = await startNginx(t, folder, port);
  const ask = async (method: string, path: string, headers: {}, body?: string) => {
    const outgoing = request({
      host: '127.0.0.1', port, ca, method, path, headers: { 'x-api-key': key, ...headers },
      agent: false,
    });
    outgoing.end(body);
    const [response] = await once(outgoing, 'response');
    return response;
  };
  const rows = Array.from({ length: ROWS }, (_, n) => `A product with a name,Kitchen,S-${n},1,1`);
  const csv = ['name,category,sku,price,stock', ...rows].join('\n');
  const type = { 'content-type': 'text/csv' };
  const report = await text(await ask('POST', '/api/v1/products/import', type, csv));
  assert.equal(JSON.parse(report).summary.created, ROWS);
  const bad = csv.replaceAll(',1,1', ',x,1');
  const rejected = await text(await ask('POST', '/api/v1/products/import', type, bad));
  assert.match(rejected, new RegExp(`"failed":${ROWS},.*\n$`));
  const stream = { accept: 'text/event-stream' };
  const live = await ask('GET', `/api/v1/changes?after=${ROWS - 1}`, stream);
  let seen = '';
  for await (const chunk of live) {
    seen += String(chunk);
    if (seen.includes(`id: ${ROWS}\n`)) break;
  }
  live.destroy();
  const host = `localhost:${port}`; // the portal is at the base URL alone
  assert.equal((await ask('GET', '/portal/join', { host })).statusCode, 200);
});
