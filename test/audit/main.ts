/** `make audit`: lists the core, and the places that an auditor checks first. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureCore, readCoreList } from './core-list.ts';
import { findModules, findPlaces, KINDS, loadSources, type Place, ROOT } from './places.ts';

const WIDTH = 100;

const sources = loadSources();

printCore();
printFolders();
printExports();
for (const kind of KINDS) {
  printPlaces(kind.title, sources.flatMap((source) => findPlaces(kind, source)));
}
printRest();

function printTitle(title: string): void {
  console.log(`\n${title}\n${'-'.repeat(title.length)}`);
}

/** The files that keep the three promises (src/README.md), in reading order. */
function printCore(): void {
  printTitle('The core, in reading order');
  const { files, starred } = readCoreList();
  for (const { path, proves } of files) {
    const { length } = sources.find((source) => source.path === path)?.lines ?? [];
    printWrapped([`${String(length).padStart(5)}  ${path}`, ...proves.split(' ')], '       ');
  }
  printWrapped(['       and', ...starred.map((path) => `${path}`)], '       ');
  const { lines, loadedLines } = measureCore(sources);
  console.log(`${String(lines).padStart(5)}  lines; ${loadedLines} are loaded with them`);
}

function printFolders(): void {
  printTitle('Lines by folder');
  const folders = Map.groupBy(sources, ({ path }) =>
    path.split('/').slice(0, path.startsWith('src/store/sqlite/') ? 3 : 2).join('/'));
  console.log('   lines  files  exports');
  const row = (files: typeof sources, name: string): void => {
    const all = files.flatMap(({ lines }) => lines);
    const exports = all.filter((line) => /^export /.test(line)).length;
    const cells = [String(all.length).padStart(8), String(files.length).padStart(7)];
    console.log(`${cells.join('')}${String(exports).padStart(9)}  ${name}`);
  };
  for (const [folder, files] of folders) row(files, folder);
  row(sources, 'all');
}

/** The names that an embedding program can import. */
function printExports(): void {
  printTitle('Exported by src/index.ts');
  const text = readFileSync(join(ROOT, 'src/index.ts'), 'utf8');
  const names = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)]
    .flatMap(([, , list = '']) => list.split(',').map((name) => name.trim().replace(/^type /, '')));
  printWrapped(names.filter(Boolean).sort());
}

/** One line per import; repeated uses in a file share a line. */
function printPlaces(title: string, places: readonly Place[]): void {
  printTitle(title);
  if (places.length === 0) console.log('none');
  const groups = Map.groupBy(places, ({ path, what }) => `${path} ${what}`);
  for (const group of groups.values()) {
    const [{ path, what } = { path: '', what: '' }] = group;
    const lines = [...new Set(group.map(({ line }) => line))].join(', ');
    printWrapped([`${path}:${lines}  ${what}`], '  ');
  }
}

/** The SQL files, and the Node modules not listed above. */
function printRest(): void {
  printTitle('SQL files, which run once on each database');
  for (const { path, lines } of sources.filter((source) => source.path.endsWith('.sql'))) {
    console.log(`${path}  ${lines.length} lines`);
  }
  printTitle('Other Node modules');
  const known = new Set(KINDS.flatMap(({ modules }) => modules));
  const others = sources.flatMap(findModules).filter(({ module }) => !known.has(module));
  for (const [module, places] of Map.groupBy(others, (place) => place.module)) {
    console.log(`node:${module}  in ${places.length} files`);
  }
}

function printWrapped(words: readonly string[], indent = ''): void {
  let line = '';
  for (const word of words.flatMap((text) => text.split(/(?<=,) /))) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      console.log(line);
      line = indent + word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  if (line !== '') console.log(line);
}
