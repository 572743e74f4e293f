/** Runs the examples of src/client/README.md as separate programs. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { generateWebhookSecret, signMessage } from '../../src/domain/webhooks/webhook-signature.ts';
import { makeFolder } from '../support/folder.ts';
import { send } from '../support/http.ts';
import { findFreePort } from '../support/listening.ts';
import { startServer } from '../support/server.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Starts an example in a project that has the package installed. */
function startExample(t: TestContext, name: string, environment: Record<string, string>) {
  const readme = readFileSync(join(ROOT, 'src/client/README.md'), 'utf8');
  const [, code = ''] = new RegExp(`<!-- example: ${name} -->\n\`\`\`js\n(.*?)\`\`\``, 's')
    .exec(readme) ?? [];
  assert.notEqual(code, '');
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'example.mjs'), code);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules', 'seller-product-api'));
  const child = spawn(process.execPath, ['example.mjs'], {
    cwd: folder, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

test('the first example prints its documented output', async (t) => {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const child = startExample(t, 'client', {
    SHOP_URL: `http://127.0.0.1:${server.port}`, SELLER_API_KEY: key,
  });
  assert.equal(await text(child.stdout), 'MUG-1 40\n2 /stock\n1 created\n2 stock\n');
});

test('the webhook receiver accepts only signed messages', async (t) => {
  const [secret, port] = [generateWebhookSecret(), await findFreePort()];
  const child = startExample(t, 'verify-webhook', {
    WEBHOOK_SECRET: secret, PORT: String(port),
  });
  const body = JSON.stringify({
    type: 'changes', data: { changes: [{ position: 7, type: 'stock', sku: 'MUG-1' }] },
  });
  const headers = signMessage({ id: 'msg_1', at: Date.now(), body }, [secret]);
  const deliver = async (sent: string): Promise<number> =>
    (await send(port, { method: 'POST', path: '/', body: sent, headers })).status;
  while (!await deliver(body).catch(() => 0));
  assert.equal(await deliver(`${body} `), 401);
  child.kill('SIGTERM');
  assert.match(await text(child.stdout), /^7 stock MUG-1\n/);
});
