/**
 * The section "Bundle it" of src/embed/README.md: its commands, and `next build`, make bundles of
 * the real package. Each runs where nothing else of the package is, and serves the API, a search,
 * which another thread does, and the portal with its stylesheet.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { copyClone, pack, ROOT } from '../package/clone.ts';
import { send } from '../support/http.ts';
import { installPackages } from '../support/install-packages.ts';
import { findFreePort } from '../support/listening.ts';
import { makeProduct } from '../support/server.ts';
import { createKey, readRecipe } from './frameworks/recipes.ts';

const PACKAGES = [
  'esbuild@0.28.2', 'rollup@4.68.8', '@rollup/plugin-node-resolve@16.0.3', 'webpack@5.113.0',
  'webpack-cli@7.3.1', 'next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1',
];
const GUIDE = readFileSync(join(ROOT, 'src/embed/README.md'), 'utf8');
/** A proxy sends these to Next.js; without an address, the portal is for `https` alone. */
const PROXIED = { host: 'shop.example', 'x-forwarded-proto': 'https' };

const folder = mkdtempSync(join(tmpdir(), 'seller-api-bundles-'));
const project = join(folder, 'project');
let isSkipped = false;

before(async () => {
  const archive = await pack(copyClone(join(folder, 'clone')));
  mkdirSync(project);
  const skip = (reason?: string): void => {
    isSkipped = true;
    console.error(`SKIPPED: ${reason}`);
  };
  if (!await installPackages({ skip }, project, [archive, ...PACKAGES])) return;
  writeFileSync(join(project, 'server.js'), readExample('bundled', 'js'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

for (const [bundler, file] of [
  ['esbuild', 'server.mjs'], ['rollup', 'server.mjs'], ['webpack', 'server.cjs'],
  ['external', 'server.mjs'],
] as const) {
  test(`a bundle works: ${bundler}`, { timeout: 300_000 }, async (t) => {
    if (isSkipped) return t.skip('needs a package registry');
    assert.doesNotMatch(await build(readExample(`bundle-${bundler}`, 'sh')), /warning|\(!\)/i);
    const home = join(bundler === 'external' ? project : folder, bundler);
    renameSync(join(project, 'out'), home);
    const server = await start(t, home, file);
    await check(server);
    assert.equal(await server.stop(), 0);
  });
}

test('a standalone server of Next.js works', { timeout: 600_000 }, async (t) => {
  if (isSkipped) return t.skip('needs a package registry');
  const app = join(project, 'app/[...path]');
  mkdirSync(app, { recursive: true });
  const route = stripTypeScriptTypes(readRecipe({
    example: 'next', prefix: '', replace: ["{ folder: 'shop-data' }", `{ folder: 'shop-data' },
      { baseUrl: 'https://${PROXIED.host}', portal: true, webhooks: true }`],
  }));
  writeFileSync(join(app, 'route.js'), route);
  writeFileSync(join(project, 'app/layout.js'),
    'export default ({ children }) => <html><body>{children}</body></html>;\n');
  writeFileSync(join(project, 'next.config.js'), "export default { output: 'standalone' };\n");
  await build('npx next build');
  const home = join(folder, 'next');
  renameSync(join(project, '.next/standalone'), home);
  const server = await start(t, home, 'server.js');
  await check(server, PROXIED);
  await server.stop();
});

function readExample(name: string, language: string): string {
  const pattern = new RegExp(`<!-- example: ${name} -->\n\`\`\`${language}\n(.*?)\`\`\``, 's');
  return pattern.exec(GUIDE)?.[1] ?? assert.fail(`the guide has no example ${name}`);
}

/** Runs a command in the project, with its packages alone, and returns what it prints. */
async function build(command: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('/bin/sh', ['-c', command], {
    cwd: project,
    env: {
      ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
      npm_config_offline: 'true', NEXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1',
    },
  });
  return stdout + stderr;
}

/** Starts a program in its folder, where a seller with a key is, and waits until it serves. */
async function start(t: TestContext, home: string, file: string) {
  const [port, key] = [await findFreePort(), await createKey(join(home, 'shop-data'))];
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const child = spawn(process.execPath, [file], {
    cwd: home, env: { ...env, PORT: String(port), HOSTNAME: '127.0.0.1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  t.after(() => child.kill('SIGKILL'));
  let notes = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  while (!await send(port, { path: '/' }).catch(() => undefined)) {
    assert.equal(child.exitCode, null, notes);
    await setTimeout(20); // the program needs the processor to start
  }
  const stop = async (): Promise<unknown> => {
    child.kill('SIGTERM');
    const [status] = await exited;
    assert.equal(notes, '');
    return status;
  };
  return { port, key, stop };
}

async function check(
  { port, key }: Awaited<ReturnType<typeof start>>, headers: Record<string, string> = {},
): Promise<void> {
  const api = { 'x-api-key': key, 'content-type': 'application/json' };
  const products = '/api/v1/products';
  const product = { ...makeProduct(), name: 'Blue mug' };
  const created = await send(port, {
    path: products, method: 'POST', headers: api, body: JSON.stringify(product),
  });
  assert.equal(created.status, 201, created.text);
  const list = await send(port, { path: `${products}?q=mug`, headers: api });
  assert.equal(list.json().products.length, 1, list.text);
  const page = await send(port, { path: '/portal/sign-in', headers });
  assert.match(page.text, /<h1>Sign in<\/h1>/);
  const [, path = ''] = /href="(\/portal\/assets\/[^"]+\.css)"/.exec(page.text) ?? [];
  const style = await send(port, { path, headers });
  assert.deepEqual([style.status, style.headers['content-type']], [200, 'text/css; charset=utf-8']);
}
