/**
 * Finds the places that an auditor checks first: everything that reaches outside the process,
 * cryptography, SQL, unescaped markup, and code loaded at run time. Matches text; `audit.test.ts`
 * compares the result with what the compiler finds.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Place {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** A module with the names imported from it, or a global name. */
  readonly what: string;
}

interface Kind {
  readonly title: string;
  /** Node modules, without `node:`. */
  readonly modules: readonly string[];
  /** Global names. */
  readonly names: readonly string[];
  /** Other patterns of this kind. */
  readonly patterns: readonly RegExp[];
}

export const KINDS: readonly Kind[] = [
  {
    title: 'Network',
    modules: ['http', 'https', 'http2', 'net', 'tls', 'dgram', 'dns', 'dns/promises', 'inspector'],
    names: ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'navigator'],
    patterns: [/\bgetBuiltinModule\('node:http'\)/g],
  },
  { title: 'Files', modules: ['fs', 'fs/promises'], names: [], patterns: [] },
  {
    title: 'Browser storage',
    modules: [],
    names: ['localStorage', 'sessionStorage', 'indexedDB', 'caches', 'cookieStore'],
    patterns: [/\bdocument\.cookie\b/g],
  },
  {
    title: 'SQL',
    modules: ['sqlite'],
    names: [],
    // Regular expressions also have `exec`; their names are in capitals.
    patterns: [
      /\bgetBuiltinModule\('node:sqlite'\)/g,
      /\.prepare\(/g, /(?<![\w.])(?:this\.#)?[a-z]\w*\.exec\(/g,
    ],
  },
  {
    title: 'Cryptography and randomness',
    modules: ['crypto'],
    names: ['crypto', 'PublicKeyCredential'],
    patterns: [/\bMath\.random\b/g],
  },
  {
    title: 'Processes, threads, and code loaded or created at run time',
    modules: [
      'child_process', 'cluster', 'worker_threads', 'module', 'sea', 'vm', 'v8', 'vfs', 'wasi',
      'repl',
    ],
    names: ['eval', 'Function', 'WebAssembly', 'globalThis'],
    patterns: [
      /(?<![.#\w])import\([^)]*\)/g,
      /\bgetBuiltinModule\((?!'node:(?:http|sqlite)'\)).*/g,
    ],
  },
  {
    title: 'The process: environment, arguments, streams, signals, exit',
    modules: ['process', 'os', 'readline', 'readline/promises', 'tty'],
    names: ['process'],
    patterns: [],
  },
  {
    title: 'Unescaped markup',
    modules: [],
    names: ['DOMParser'],
    patterns: [/\bnew Html\(/g, new RegExp('\\b(?:innerHTML|outerHTML|insertAdjacentHTML|srcdoc|'
      + 'setHTMLUnsafe|createContextualFragment|document\\.write(?:ln)?)\\b', 'g')],
  },
];

export interface SourceText {
  readonly path: string;
  readonly lines: readonly string[];
}

/** All source files that run in Node, browsers or SQLite. */
export function loadSources(): SourceText[] {
  return globSync('src/**/*.{ts,js,css,svg,sql}', { cwd: ROOT }).sort().map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return { path, lines: text.trimEnd().split('\n') };
  });
}

/** Every import of a Node module, except type-only imports. */
export function findModules({ path, lines }: SourceText): (Place & { readonly module: string })[] {
  const statement = /(?:^(?:import|export) (?!type )([^;'(]*)|\bimport\()'node:([^']+)'/gm;
  const text = lines.join('\n');
  return [...text.matchAll(statement)].map((match) => {
    const { 0: all, 1: clause = '', 2: module = '', index } = match;
    const taken = clause.replace(/ from $/, '').replace(/[{}\s]+/g, ' ');
    const names = taken.trim().replace(/,$/, '');
    const line = text.slice(0, index + all.length).split('\n').length;
    return { path, line, module, what: `node:${module}  ${names}` };
  });
}

/** The places of one kind in a file. */
export function findPlaces(kind: Kind, source: SourceText): Place[] {
  const { path } = source;
  const places: Place[] = findModules(source).filter(({ module }) => kind.modules.includes(module));
  source.lines.map(stripComments).forEach((text, index) => {
    const found = kind.names.flatMap((name) => findName(text, name));
    for (const pattern of kind.patterns) found.push(...text.match(pattern) ?? []);
    for (const what of found) places.push({ path, line: index + 1, what });
  });
  return places.sort((a, b) => a.line - b.line);
}

/** Uses of a global name, with the member that follows; no members or declarations of that name. */
function findName(text: string, name: string): string[] {
  const use = new RegExp(`(?<![\\w.#$'/-])${name}(?:\\.\\w+)?(?![\\w'/-]|: | =)`, 'g');
  return text.match(use) ?? [];
}

/** Handles whole-line comments and comments at the end of a line. */
function stripComments(line: string): string {
  return /^\s*(?:\/?\*|\/\/)/.test(line) ? '' : line.replace(/\s\/\/ .*$/, '');
}
