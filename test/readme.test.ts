/** Runs the examples of the documents, and checks that their lists and links are complete. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { locationFlags } from '../src/cli/location.ts';
import { serve } from '../src/cli/serve/serve.ts';
import { generateWebhookSecret } from '../src/domain/webhooks/webhook-signature.ts';
import { signMessage } from '../src/domain/webhooks/webhook-signature.ts';
import { makeProduct } from './support/server.ts';
import { run } from './support/command.ts';
import { makeFolder } from './support/folder.ts';
import { send } from './support/http.ts';
import { findFreePort } from './support/listening.ts';

const ROOT = join(import.meta.dirname, '..');
const README = read('README.md');
const README_LINES_LIMIT = 250;

test('the example of embedding works as it is printed', async (t) => {
  const folder = makeFolder(t);
  const port = await findFreePort();
  const [, example = ''] = /<!-- example: embed -->\n```js\n(.*?)```/s.exec(README) ?? [];
  writeFileSync(join(folder, 'example.mjs'), example);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules', 'seller-product-api'));
  const child = spawn(process.execPath, ['example.mjs'], {
    cwd: folder, env: { ...process.env, PORT: String(port) }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  t.after(() => child.kill('SIGKILL'));
  const [printed] = await once(child.stdout, 'data');
  assert.equal(String(printed), `http://127.0.0.1:${port}/shop/api/v1/products\n`);

  const data = ['--data', join(folder, 'shop-data')];
  const { out } = await run(['key', 'create', '--name', 'test', ...data]);
  const created = await send(port, {
    method: 'POST', path: '/shop/api/v1/products', body: JSON.stringify(makeProduct()),
    headers: { 'x-api-key': out.trim(), 'content-type': 'application/json' },
  });
  assert.equal(created.status, 201, created.text);
  assert.match(created.headers.location ?? '', /^\/shop\/api\/v1\/products\/prd_/);
  const beside = await send(port, { path: '/api/v1/products' });
  assert.equal(beside.text, 'Another handler, beside the shop\n');

  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

test('the example of verifying a signature accepts sent messages, and nothing else', async (t) => {
  const folder = makeFolder(t);
  const [, example = ''] = /<!-- example: verify -->\n```js\n(.*?)```/s
    .exec(read('src/features/webhooks/README.md')) ?? [];
  writeFileSync(join(folder, 'verify.mjs'), example);
  const { verify } = await import(join(folder, 'verify.mjs'));
  const [secret, other] = [generateWebhookSecret(), generateWebhookSecret()];
  const message = { id: 'msg_1', at: Date.now(), body: '{"type":"test"}' };
  const headers = signMessage(message, [other, secret]);
  assert.equal(verify(headers, message.body, secret), true);
  assert.equal(verify(headers, `${message.body} `, secret), false);
  assert.equal(verify(headers, message.body, generateWebhookSecret()), false);
  const old = signMessage({ ...message, at: message.at - 301_000 }, [secret]);
  assert.equal(verify(old, message.body, secret), false);
});

test('the guide to the command line lists every setting with its variable', () => {
  const guide = read('src/cli/README.md');
  for (const flag of [...Object.keys(serve.flags ?? {}), ...Object.keys(locationFlags)]) {
    const variable = `SELLER_API_${flag.toUpperCase().replaceAll('-', '_')}`;
    assert.match(guide, new RegExp(`\\| \`--${flag}\` \\| \`${variable}\` \\|`), flag);
  }
});

test('every link of the documents leads to a file, and every fragment to a heading', () => {
  const documents = globSync(['*.md', '{src,test,data}/**/*.md'], { cwd: ROOT });
  assert.ok(documents.length > 15, String(documents.length));
  for (const path of documents) {
    for (const [, target = ''] of read(path).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [file = '', fragment] = target.split('#');
      const linked = file === '' ? path : join(dirname(path), file);
      const text = read(linked);
      assert.ok(text.length > 0, `${path}: ${target}`);
      if (fragment === undefined) continue;
      const slugs = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slugOf(heading));
      assert.ok(slugs.includes(fragment), `${path}: ${target}`);
    }
  }
});

test('the README is short enough to be read', () => {
  assert.ok(README.split('\n').length <= README_LINES_LIMIT);
});

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The anchor that GitHub generates for a heading. */
function slugOf(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^\w\s-]/g, '').replaceAll(' ', '-');
}
