/**
 * Reduces the declarations of a build to the public API: what the entries export, and what that
 * refers to. Internals are then neither in the package's types nor a promise. Works on the text
 * that the compiler writes, in which every statement starts in the first column.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { removeLines } from './source-map.ts';

interface Statement {
  /** Index of its first line, which may be that of its comment. */
  readonly start: number;
  readonly text: string;
  /** Its names, and for those of another module the names there. */
  readonly names: ReadonlyMap<string, string>;
  /** Another module whose names it imports or exports. */
  readonly from: string | undefined;
}

interface Module {
  readonly lines: readonly string[];
  readonly statements: readonly Statement[];
  /** The names that are kept. */
  readonly kept: Set<string>;
}

/** Removes everything else below `folder`; returns the paths that remain, below it as well. */
export function keepPublicDeclarations(folder: string, entries: readonly string[]): string[] {
  const modules = new Map<string, Module>();
  const open = (path: string): Module => {
    const module = modules.get(path) ?? parseModule(readFileSync(join(folder, path), 'utf8'));
    modules.set(path, module);
    return module;
  };
  const keep = (path: string, name: string): void => {
    const { statements, kept } = open(path);
    if (kept.has(name)) return;
    kept.add(name);
    for (const { text, names, from } of statements.filter((one) => one.names.has(name))) {
      if (from !== undefined) {
        if (from.startsWith('.')) keep(resolve(path, from), names.get(name) ?? name);
        continue;
      }
      const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '');
      const known = new Set(statements.flatMap((one) => [...one.names.keys()]));
      // A name before a colon or a parenthesis is that of a member.
      for (const [word] of code.matchAll(/\b\w+\b(?!\??:|\()/g)) {
        if (known.has(word)) keep(path, word);
      }
      for (const [, target = '', word = ''] of code.matchAll(/import\("([^"]+)"\)\.(\w+)/g)) {
        if (target.startsWith('.')) keep(resolve(path, target), word);
      }
    }
  };
  for (const path of entries) {
    for (const { names, text } of open(path).statements) {
      if (/^export /m.test(text)) for (const name of names.keys()) keep(path, name);
    }
  }
  for (const path of globSync('**/*.d.ts', { cwd: folder })) {
    const module = modules.get(path);
    if (module) reduce(join(folder, path), module);
    else for (const file of [path, `${path}.map`]) rmSync(join(folder, file));
  }
  return [...modules.keys()].sort();
}

/** A block ends with its brace in the first column, everything else with a semicolon. */
function parseModule(text: string): Module {
  const lines = text.split('\n');
  const statements: Statement[] = [];
  let start = 0;
  let first: string | undefined;
  lines.forEach((line, index) => {
    if (first === undefined && /^[a-z]/.test(line)) first = line;
    if (first === undefined) return;
    const isBlock = /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface) /.test(first);
    if (!(isBlock ? /^(?! ).*\}$/ : /^(?! ).*;$|^ \|.*;$/).test(line)) return;
    const statement = lines.slice(start, index + 1).join('\n');
    statements.push({ start, text: statement, ...readNames(statement) });
    start = index + 1;
    first = undefined;
  });
  return { lines, statements, kept: new Set() };
}

function readNames(text: string): Pick<Statement, 'names' | 'from'> {
  const [, list, from] =
    /^(?:import|export) (?:type )?\{([^}]*)\}(?: from ['"]([^'"]+)['"])?;/m.exec(text) ?? [];
  if (list !== undefined) {
    const names = list.split(',').filter((item) => item.trim() !== '').map((item) => {
      const [there = '', here = there] = item.trim().replace('type ', '').split(' as ');
      return [here, there] as const;
    });
    // What is exported from this module itself is kept where it is declared or imported.
    return { names: new Map(names), from };
  }
  const [, name] =
    /^(?:export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/m
      .exec(text) ?? [];
  return { names: new Map(name === undefined ? [] : [[name, name]]), from: undefined };
}

/** Writes a module and its map without what is not kept. */
function reduce(file: string, { lines, statements, kept }: Module): void {
  const removed = new Set<number>();
  const output = [...lines];
  for (const { start, text, names } of statements) {
    const isNeeded = text.endsWith('export {};')
      || [...names.keys()].some((name) => kept.has(name));
    for (let line = start; line < start + text.split('\n').length; line += 1) {
      if (isNeeded) output[line] = keepNames(output[line] ?? '', kept);
      else removed.add(line);
    }
  }
  const text = output.filter((_, index) => !removed.has(index)).join('\n');
  writeFileSync(file, text.replaceAll(/(["'])(\.{1,2}\/[^"'\n]+)\.ts\1/g, '$1$2.js$1'));
  const map = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  const mappings = removeLines(map.mappings, removed);
  writeFileSync(`${file}.map`, JSON.stringify({ ...map, mappings }));
}

/** Removes the other names from an import or export of several. */
function keepNames(line: string, kept: ReadonlySet<string>): string {
  return line.replace(/^((?:import|export) (?:type )?\{)([^}]+)(\})/, (_, start, list, end) => {
    const items = String(list).split(',').filter((item) =>
      kept.has(item.trim().replace('type ', '').replace(/^.* as /, '')));
    return `${start} ${items.map((item) => item.trim()).join(', ')} ${end}`;
  });
}

function resolve(path: string, specifier: string): string {
  return join(path, '..', specifier.replace(/\.ts$/, '.d.ts'));
}
