/**
 * The tests of a selection: those that mirror a folder of its source, import nothing else of the
 * source, and name no path, option or command of another room.
 */
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listMissingCommands, type Room, ROOMS, type Selection } from './composition.ts';
import { filesOf, findReferences, read, ROOT, type Tree } from './tree.ts';

/** What runs tests. */
const RUNNER = ['test/run.ts', 'test/support/runner/*.ts'];

/** What a test that uses a room contains, unless it imports the room. */
const USES: Readonly<Partial<Record<Room, RegExp>>> = {
  changes: /\/changes\b|\/movements\b|\.subscribe\(/,
  imports: /\/imports?\b|\/reverts?\b/,
  openapi: /openapi/,
  portal: /\/portal\b|\bportal:/,
  postgres: /--database\b|\bpostgres:\/\/|'postgres'/,
  telemetry: /\/metrics\b|--log\b|--metrics-/,
  webhooks: /\/webhooks\b|\bwebhooks:|--webhook-/,
};

/** Adds the tests of a selection to its source. */
export function addTests(
  tree: Tree, selection: Selection, composed: ReadonlyMap<string, string>,
): readonly string[] {
  const folders = new Set([...tree.keys()].map((path) => dirname(path)));
  const tests = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
    .filter((path) => isMirror(path, folders, tree));
  const missing = listMissing(selection);
  const added = tests.filter((path) => {
    const closure = closeOver(path, composed);
    if (![...closure].every((file) => !file.startsWith('src/') || tree.has(file))) return false;
    const texts = [...closure].filter((file) => /^test\/(?!support\/).*\.ts$/.test(file)).map(read);
    if (missing.some((use) => texts.some((text) => use.test(text)))) return false;
    for (const file of closure) if (!tree.has(file)) tree.set(file, composed.get(file));
    return true;
  });
  for (const path of globSync(RUNNER, { cwd: ROOT })) tree.set(path, undefined);
  for (const folder of new Set(added.map((path) => dirname(path)))) {
    // Files that tests read, such as recorded ones.
    for (const path of globSync(`${folder}/*`, { cwd: ROOT })) {
      if (!path.endsWith('.ts') && /\.\w+$/.test(path)) tree.set(path, undefined);
    }
  }
  return added;
}

/** What tests contain that use what the selection does not have. */
function listMissing(selection: Selection): readonly RegExp[] {
  const uses = ROOMS.filter((room) => !selection.has(room)).flatMap((room) => USES[room] ?? []);
  const commands = listMissingCommands(selection).map((name) => name.split(' ').join("', '"));
  return [...uses, new RegExp(`(?:\\brun\\w*\\(|\\[)'(?:${[...commands, '\\0'].join('|')})'`)];
}

/** Whether the folder or the file exists that the test is about: `test/app-stream.test.ts` too. */
function isMirror(path: string, folders: ReadonlySet<string>, tree: Tree): boolean {
  const folder = dirname(path);
  if (folder !== 'test') return folders.has(folder.replace(/^test/, 'src'));
  return tree.has(`src/${/^test\/(\w+)/.exec(path)?.[1]}.ts`);
}

/** The test, and every file that it reaches. */
function closeOver(path: string, composed: ReadonlyMap<string, string>): ReadonlySet<string> {
  const closure = new Set<string>();
  const visit = (file: string): void => {
    if (closure.has(file)) return;
    closure.add(file);
    // What the source reaches is in the tree already, or else the test is not.
    if (!file.startsWith('test/') || !/\.[jt]s$/.test(file)) return;
    for (const target of findReferences(file, composed.get(file) ?? read(file))) {
      if (existsSync(join(ROOT, target))) for (const found of filesOf(target)) visit(found);
    }
  };
  visit(path);
  return closure;
}
