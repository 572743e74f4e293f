/** The recipes of src/embed/RECIPES.md, as programs in one project that has the packages. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createShop } from '../../../src/embed/shop.ts';
import { ROOT } from '../../package/clone.ts';
import { send } from '../../support/http.ts';
import { findFreePort } from '../../support/listening.ts';

const DOCUMENT = readFileSync(join(ROOT, 'src/embed/RECIPES.md'), 'utf8');

export interface Recipe {
  /** Its name in the document. */
  readonly example: string;
  /** A replacement in its code, for another version of a package. */
  readonly replace?: readonly [from: string, to: string];
  /** A program that serves it, if it is only a part of one. */
  readonly main?: string;
  /** The path where the shop is mounted. */
  readonly prefix: string;
}

export interface Running {
  readonly port: number;
  readonly key: string;
  readonly child: ChildProcess;
  /** Its output on standard error so far. */
  notes(): string;
}

/** The names of all recipes. */
export function listRecipes(): readonly string[] {
  return [...DOCUMENT.matchAll(/<!-- example: ([\w-]+) -->/g)].map(([, name = '']) => name);
}

/** The code of a recipe. */
export function readRecipe({ example, replace: [from, to] = ['', ''] }: Recipe): string {
  const [, code = ''] = new RegExp(`<!-- example: ${example} -->\n\`\`\`ts\n(.*?)\`\`\``, 's')
    .exec(DOCUMENT) ?? [];
  assert.notEqual(code, '', example);
  assert.ok(code.includes(from), from);
  return from === '' ? code : code.replaceAll(from, to);
}

/** The number of its lines that are not blank. */
export function countLines(recipe: Recipe): number {
  return readRecipe(recipe).split('\n').filter((line) => line.trim() !== '').length;
}

/** Starts a recipe in a folder of its own below the project, and waits until it serves. */
export async function startRecipe(
  t: TestContext, project: string, name: string, recipe: Recipe,
): Promise<Running> {
  const folder = join(project, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'recipe.ts'), readRecipe(recipe));
  const [port, key] = [await findFreePort(), await createKey(join(folder, 'shop-data'))];
  const main = recipe.main === undefined ? 'recipe.ts' : join(import.meta.dirname, recipe.main);
  const child = spawn(process.execPath, [main], {
    cwd: folder, env: { ...process.env, PORT: String(port), NODE_ENV: 'test' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  let notes = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  while (!await send(port, { path: '/hello' }).catch(() => undefined)) {
    assert.equal(child.exitCode, null, notes);
    await setTimeout(20); // the program needs the processor to start
  }
  return { port, key, child, notes: () => notes };
}

/** Creates a shop in a folder, and a key. */
export async function createKey(folder: string): Promise<string> {
  const shop = await createShop({ folder });
  const { id } = await shop.sellers.create({ name: 'My shop' });
  const { key } = await shop.keys.create(id, { name: 'test' });
  await shop.close();
  return key;
}
