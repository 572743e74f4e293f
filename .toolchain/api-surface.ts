/**
 * Prints the public API of a built package: what each entry exports, and the declarations of all of
 * that, without comments. Everything that is printed is a promise.
 *
 * Usage: node api-surface.ts FOLDER
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = ''] = process.argv.slice(2);
const { name, exports } = JSON.parse(read('package.json'));

for (const [entry, { types }] of Object.entries<{ types: string }>(exports)) {
  const text = read(types);
  const declared =
    [...text.matchAll(/^export (?:declare )?(?:class|function|interface|type) (\w+)/gm)];
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]+)\}/gm)];
  const names = [...declared, ...listed].flatMap(([, list = '']) => list.split(','))
    .map((item) => item.trim().replace(/^(?:type|.* as) /, '')).sort();
  print(`${name}${entry.slice(1)}: ${names.join(', ')}\n`);
}
for (const path of globSync('dist/**/*.d.ts', { cwd: folder }).sort()) {
  const code = read(path).replaceAll(/\/\*[\s\S]*?\*\//g, '').split('\n')
    .filter((line) => line.trim() !== '' && !/^(?:\/\/|export \{\}|.* from )/.test(line));
  if (code.length > 0) print([path.replace('.d.ts', ''), ...code, ''].join('\n'));
}

function read(path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
