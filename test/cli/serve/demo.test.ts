/** `demo`: the commands that it prints work, and it removes its files. */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { program, runProcess } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;
const execute = promisify(execFile);

test('prints three commands that work', {
  skip: hasCurl ? false : 'curl is not installed',
}, async (t) => {
  const { out, stop } = await startDemo(t);
  assert.match(out, /^Listening on http:\/\/127\.0\.0\.1:\d+ with 100 products/);
  const lines = out.split('\n').filter((line) => line.startsWith('  curl '));
  assert.equal(lines.length, 3);
  const [listed = '', patched = '', exported = ''] = await runLines(lines);
  const { products } = JSON.parse(listed);
  const skus = products.map((product: { sku: string }) => product.sku);
  assert.deepEqual(skus, ['KIT-MUG-BLUE', 'KIT-MUG-WHITE']);
  const { sku, stock } = JSON.parse(patched);
  assert.deepEqual([sku, stock], ['KIT-MUG-BLUE', 41]);
  assert.match(exported, /^id,name,category,sku,price,currency,stock,position/);
  assert.match(exported, /,KIT-MUG-BLUE,12\.5,EUR,41,101,/);
  assert.equal(exported.split('\r\n').length, 102);
  assert.equal(await stop('SIGINT'), 0);
});

test('prints one JSON document with --json, and leaves no folder', async (t) => {
  const folder = makeFolder(t);
  const { out, stop } = await startDemo(t, ['--json'], { TMPDIR: folder });
  const { url, key, products, commands } = JSON.parse(out);
  assert.deepEqual([products, commands.length], [100, 3]);
  assert.equal(readdirSync(folder).length, 1);
  const answer = await fetch(`${url}/api/v1/products?limit=1`, { headers: { 'x-api-key': key } });
  assert.equal(answer.status, 200);
  assert.equal(await stop('SIGTERM'), 0);
  assert.deepEqual(readdirSync(folder), []);
});

test('fails in one line if the port is taken, and leaves no folder', async (t) => {
  const folder = makeFolder(t);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { status, out, notes } = await runProcess(['demo', '--port', String(address.port)], {
    TMPDIR: folder,
  });
  assert.deepEqual([status, out], [1, '']);
  assert.match(notes, /^Port \d+ is taken\. Choose another with --port\.\n$/);
  assert.deepEqual(readdirSync(folder), []);
});

/** Runs `demo` on a free port until its output is complete. */
async function startDemo(
  t: TestContext, flags: readonly string[] = [], environment: NodeJS.ProcessEnv = {},
) {
  const child = spawn(...program('demo', '--port', '0', ...flags), {
    env: { ...process.env, ...environment },
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  t.after(() => { child.kill('SIGKILL'); });
  let [out, notes] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => { out += text; });
  child.stderr.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  while (!/format=csv'(\n|"\]\}\n)$/.test(out)) {
    await Promise.race([once(child.stdout, 'data'), ended]);
    assert.equal(child.exitCode, null, notes);
  }
  return {
    out,
    async stop(signal: NodeJS.Signals) {
      child.kill(signal);
      return (await ended)[0];
    },
  };
}

async function runLines(lines: readonly string[]): Promise<string[]> {
  const outputs: string[] = [];
  for (const line of lines) outputs.push((await execute('sh', ['-c', line])).stdout);
  return outputs;
}
