/**
 * Writes the project into a folder with the rooms that one names and without the others: the source
 * that they reach, its composition, and its tests. Files are copied whole or left out.
 *
 * Usage: node .toolchain/minimal.ts FOLDER [ROOM...]
 */
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  COMPOSITION, listExports, type Room, ROOMS, type Selection,
} from './composition.ts';
import { addTests } from './selected-tests.ts';
import { planSource, read, ROOT, type Tree } from './tree.ts';

/** Copied into every tree. */
const COPIED = [
  '.editorconfig', '.gitignore', '.npmrc', 'LICENSE', 'package-lock.json', 'tsconfig.json',
  '.toolchain/node', '.toolchain/node-*/*',
];
const MAKEFILE = '.toolchain/minimal.mk';

if (import.meta.main) main(process.argv.slice(2));

function main([folder = '', ...words]: readonly string[]): void {
  const unknown = words.find((word) => !isRoom(word));
  const problem = folder === '' ? 'Name a folder: make minimal FOLDER=../my-server.'
    : unknown !== undefined ? `There is no room "${unknown}".`
      : isFilled(folder) ? `${folder} is not empty.` : undefined;
  if (problem !== undefined) {
    process.stderr.write(`${problem} Rooms for WITH: ${ROOMS.join(', ')}.\n`);
    process.exitCode = 2;
    return;
  }
  const selection = new Set(words.filter(isRoom));
  writeTree(folder, selection);
  process.stdout.write(describe(folder, selection));
}

function isFilled(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0;
}

function isRoom(word: string): word is Room {
  return (ROOMS as readonly string[]).includes(word);
}

/** Writes the tree of a selection, and returns its tests. */
export function writeTree(folder: string, selection: Selection): readonly string[] {
  const tree = planSource(selection);
  addDocuments(tree);
  for (const path of globSync(COPIED, { cwd: ROOT })) tree.set(path, undefined);
  const composed = new Map(COMPOSITION.map((file) => [file.path, file.write(selection)]));
  const tests = addTests(tree, selection, composed);
  tree.set('package.json', writeManifest(selection));
  tree.set('Makefile', read(MAKEFILE));
  tree.set('README.md', writeReadme(selection));
  for (const [path, text] of tree) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    if (text === undefined) cpSync(join(ROOT, path), target);
    else writeFileSync(target, text);
  }
  return tests;
}

/** What other programs and people read of each folder: guides, and settings of a compiler. */
function addDocuments(tree: Tree): void {
  for (const folder of new Set([...tree.keys()].map((path) => dirname(path)))) {
    if (!folder.startsWith('src/')) continue;
    for (const path of globSync(join(folder, '*.{md,json,yml}'), { cwd: ROOT })) {
      tree.set(path, undefined);
    }
  }
}

function writeManifest(selection: Selection): string {
  const { exports: _, bin, ...manifest } = JSON.parse(read('package.json'));
  const exports = listExports(selection);
  const { name, version, description, license, type, engines, ...rest } = manifest;
  const members = { name, version, description, license, type, engines, exports, bin, ...rest };
  const text = JSON.stringify(members, null, 2);
  // The committed file has short members on one line.
  const flat = text.replace(/"(engines|bin)": \{\s+([^}]*?)\s+\}/g, '"$1": { $2 }')
    .replace(/"files": \[[^\]]*\]/, (list) => list.replaceAll(/\s+(?="|\])/g, ' ')
      .replace('[ ', '[').replace(' ]', ']'));
  return `${flat}\n`;
}

function writeReadme(selection: Selection): string {
  const rooms = selection.size === 0 ? 'no room but the API' : [...selection].sort().join(', ');
  return `# Seller Product API: ${rooms}

\`make minimal\` wrote this tree: the API on SQLite, administered on the command line, with
${rooms}. It is a part of the project, with whole files only, and opens the data
folders of any other selection. Guides are beside the source; they may name rooms that are not here.

| Command | Effect |
|---|---|
| \`make run\` | serves http://127.0.0.1:8080 on the database in data/ |
| \`node src/seller-api.js --help\` | lists the commands |
| \`make types\` | checks the types, with npm packages |
| \`make test\` | runs the tests of this selection |
`;
}

interface Size {
  /** Of TypeScript and JavaScript, with comments, as `wc -l` counts them. */
  readonly lines: number;
  /** The same without blank lines and comments. */
  readonly code: number;
  /** Of other files that the program reads: SQL, styles, images, but not lists of data (`.txt`). */
  readonly otherLines: number;
}

/** What runs. */
export function measure(selection: Selection): Size {
  const texts = [...planSource(selection)].filter(([path]) => /^src\/.*(?<!\.txt)$/.test(path))
    .map(([path, text]) => ({ isCode: /\.[jt]s$/.test(path), text: text ?? read(path) }));
  const count = (pattern: RegExp, isCode: boolean): number =>
    texts.filter((file) => file.isCode === isCode)
      .reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0);
  return {
    lines: count(/\n/g, true),
    code: count(/^(?!\s*(?:\/\/|\*|\/\*))\s*\S.*$/gm, true),
    otherLines: count(/\n/g, false),
  };
}

/** The lines of code that a room adds to the smallest tree. */
export function measureRoom(room: Room): number {
  return measure(new Set([room])).lines - measure(new Set()).lines;
}

function describe(folder: string, selection: Selection): string {
  const { lines, code, otherLines } = measure(selection);
  const rooms = ROOMS.map((room) =>
    `  ${room.padEnd(10)} ${String(measureRoom(room)).padStart(7)}`);
  return `${folder} has ${lines} lines of TypeScript and JavaScript, ${code} without comments and\n`
    + `blank lines, and ${otherLines} of SQL and other files. The smallest tree has ${
      measure(new Set()).lines}. Each room alone adds:\n${rooms.join('\n')}\n`;
}
