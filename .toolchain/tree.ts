/**
 * The files of a selection of rooms: what its entries reach by imports, threads and files beside
 * modules, with the composition in place of the committed one. Nothing is listed by hand, so what
 * nothing reaches is left out. Reads the text of modules; needs no compiler.
 */
import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { COMPOSITION, listEntries, type Selection } from './composition.ts';

export const ROOT = join(import.meta.dirname, '..');

/** Every file by its path; with its text if it is written, or undefined if it is copied. */
export type Tree = Map<string, string | undefined>;

/** Statements, calls of `import()`, and URLs of files beside a module, which may be threads. */
const REFERENCES = new RegExp([
  /^(?:import|export) (?:type )?(?:[^{}']*(?:\{[^}]*\})? from )?'(\.[^']*)';/,
  /\bimport\('(\.[^']*)'\)/,
  /\bnew URL\('([^':]*)', import\.meta\.url\)/,
  /\bjoin\(import\.meta\.dirname, '([^']*)'\)/,
].map(({ source }) => source).join('|'), 'gm');

/** The files of `src`, and what they read beside them. */
export function planSource(selection: Selection): Tree {
  const composed = new Map(COMPOSITION.map((file) => [file.path, file.write(selection)]));
  const tree: Tree = new Map();
  for (const entry of listEntries(selection)) reach(tree, entry, composed);
  return tree;
}

/** Adds a file, and all that it reaches. */
export function reach(tree: Tree, path: string, composed: ReadonlyMap<string, string>): void {
  if (tree.has(path)) return;
  const text = composed.get(path);
  tree.set(path, text);
  if (!/\.[jt]s$/.test(path)) return;
  for (const target of findReferences(path, text ?? read(path))) {
    for (const file of filesOf(target)) reach(tree, file, composed);
  }
}

/** The files and folders of the project that a module names, relative to the project. */
export function findReferences(path: string, text: string): string[] {
  const code = text.replaceAll(/^\/\*\*[^]*?\*\/$|^ +\/\*\*[^]*?\*\/$/gm, '');
  return [...code.matchAll(REFERENCES)].map(([, ...targets]) =>
    normalize(join(dirname(path), targets.find((target) => target !== undefined) ?? '')))
    .filter((target) => /^(?:src|test|data)\//.test(target)); // no package.json and caches
}

export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The file, or all files of a folder that a module serves. */
export function filesOf(path: string): readonly string[] {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path];
  return globSync(join(path, '*.*'), { cwd: ROOT }).sort()
    .filter((file) => statSync(join(ROOT, file)).isFile());
}
