/**
 * The recipes of src/embed/RECIPES.md for development, with the real tools and the real package:
 * each edit of the program takes effect, keeps the data, and opens nothing that stays open.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { copyClone, pack, ROOT } from '../package/clone.ts';
import { send } from '../support/http.ts';
import { installPackages } from '../support/install-packages.ts';
import { findFreePort } from '../support/listening.ts';
import { makeProduct } from '../support/server.ts';
import { createKey, listRecipes, readRecipe } from './frameworks/recipes.ts';

const PACKAGES = [
  'tsx@4.23.15', 'vite@8.4.0', 'vite-node@6.0.0', 'next@16.4.6', 'react@19.3.1',
  'react-dom@19.3.1', '@types/node@26.6.6',
];
const EDITS = 4;

interface Tool {
  readonly example: string;
  readonly file: string;
  command(port: number): readonly string[];
  /** Files beside the program. */
  readonly files?: Readonly<Record<string, string>>;
  /** What an edit replaces, and by what, so that responses show it. */
  edit(n: number): readonly [from: string, to: string];
}

const CREATE = "createShop({ folder: 'shop-data' }";
const addContact = (n: number) =>
  [CREATE, `${CREATE}, { contact: 'edit-${n}@shop.example' }`] as const;

const TOOLS: Readonly<Record<string, Tool>> = {
  'tsx watch': {
    example: 'reload-tsx', file: 'main.ts', edit: addContact,
    command: () => ['tsx/dist/cli.mjs', 'watch', 'main.ts'],
  },
  'vite-node --watch': {
    example: 'reload-vite-node', file: 'main.ts', edit: addContact,
    command: () => ['vite-node/dist/cli.mjs', '--watch', 'main.ts'],
  },
  'next dev': {
    example: 'next', file: 'app/api/v1/[...path]/route.js',
    files: {
      'next.config.mjs': "export default { serverExternalPackages: ['seller-product-api'] };",
    },
    command: (port) => ['next/dist/bin/next', 'dev', '--port', String(port)],
    edit: (n) => ['.fetch(request)', `.fetch(request).then(async (response) => new Response(
      (await response.text()).replace('"info":{', '"info":{"contact":"edit-${n}@shop.example",'),
      response))`],
  },
};

const project = mkdtempSync(join(tmpdir(), 'seller-api-reloading-'));
let skipReason: string | undefined;

before(async () => {
  const archive = await pack(copyClone(join(project, 'clone')));
  const skip = (reason?: string): void => { skipReason = reason; };
  await installPackages({ skip }, project, [archive, ...PACKAGES]);
  if (skipReason !== undefined) console.error(`SKIPPED: ${skipReason}`);
});
after(() => rmSync(project, { recursive: true, force: true, maxRetries: 5 }));

test('runs every recipe for reloading', () => {
  const examples = Object.values(TOOLS).map(({ example }) => example);
  assert.deepEqual(listRecipes().filter((name) => name.startsWith('reload-')),
    examples.filter((name) => name !== 'next'));
});

for (const [name, tool] of Object.entries(TOOLS)) {
  test(`${name}: each edit takes effect, and opens nothing more`, {
    timeout: 240_000, skip: process.platform !== 'linux' && 'needs /proc',
  }, async (t) => {
    if (skipReason !== undefined) return t.skip(skipReason);
    const folder = join(project, name.replaceAll(/\W+/g, '-'));
    const port = await findFreePort();
    const program = readRecipe({ example: tool.example, prefix: '' });
    const code = tool.file.endsWith('.js') ? stripTypeScriptTypes(program) : program;
    for (const [path, text] of Object.entries({ ...tool.files, [tool.file]: code })) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const data = join(folder, 'shop-data');
    const headers = { 'x-api-key': await createKey(data) };
    start(t, folder, port, tool);
    const ask = (path: string, options = {}) =>
      send(port, { path, headers, ...options }).catch(() => undefined);
    while ((await ask('/api/v1/products'))?.status !== 200) await setTimeout(50);
    await ask('/api/v1/products', {
      method: 'POST', headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...makeProduct(), sku: 'KEPT' }),
    });
    const counts = new Set<number>();
    for (let n = 1; n <= EDITS; n += 1) {
      writeFileSync(join(folder, tool.file), code.replace(...tool.edit(n)));
      const isThere = async () => (await ask('/api/v1/openapi.json'))?.text.includes(`edit-${n}@`);
      while (!await isThere()) await setTimeout(50);
      // Sorting also starts the thread of searches, which opens files.
      assert.equal((await ask('/api/v1/products?sort=name'))?.json().products.length, 1);
      counts.add(countOpenFiles(data));
    }
    assert.equal(counts.size, 1, [...counts].join());
  });
}

test('the recipes have no type error in a strict project', { timeout: 60_000 }, (t) => {
  if (skipReason !== undefined) return t.skip(skipReason);
  const folder = join(project, 'types');
  mkdirSync(folder);
  const names = listRecipes().filter((name) => name.startsWith('reload-'));
  for (const example of names) {
    writeFileSync(join(folder, `${example}.ts`), readRecipe({ example, prefix: '' }));
  }
  const { status, stdout } = spawnSync(process.execPath, [
    join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--skipLibCheck',
    '--module', 'nodenext', '--target', 'esnext', '--types', 'node', ...readdirSync(folder),
  ], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([stdout, status], ['', 0]);
});

/** In a process group of its own, since the tools start others. */
function start(t: TestContext, folder: string, port: number, { command }: Tool): void {
  const [script = '', ...rest] = command(port);
  const child = spawn(process.execPath, [join(project, 'node_modules', script), ...rest], {
    cwd: folder, stdio: 'ignore', detached: true,
    env: { ...process.env, PORT: String(port), NODE_ENV: undefined, NEXT_TELEMETRY_DISABLED: '1' },
  });
  t.after(async () => {
    if (child.pid === undefined || child.exitCode !== null) return;
    process.kill(-child.pid, 'SIGKILL');
    await once(child, 'exit');
  });
}

/** How often processes have files of a folder open. */
function countOpenFiles(folder: string): number {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes.map((id) => `/proc/${id}/fd`)
    .flatMap((files) => (unlessGone(() => readdirSync(files)) ?? [])
      .map((name) => unlessGone(() => readlinkSync(join(files, name)))))
    .filter((link) => link?.startsWith(`${folder}/`)).length;
}

/** Undefined if the process has ended, has closed the file, or belongs to another user. */
function unlessGone<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
