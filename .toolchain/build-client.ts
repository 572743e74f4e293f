/**
 * Reduces a built package to that of the client, `seller-product-api-client`: the client's modules
 * and what they import, with source maps, sources and declarations, but no code of the server.
 *
 * Usage: node build-client.ts FOLDER, after build-package.ts in this folder
 */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { join as joinPosix } from 'node:path/posix';

const [folder = ''] = process.argv.slice(2);
const NAME = 'seller-product-api-client';
/** The entries, each with its name in the whole package. */
const ENTRIES = { '.': './client', './webhooks': './webhooks' };
const IMPORT = /(?:\bfrom |\bimport\(|^import )['"](\.[^'"]+)['"]/gm;

/** The guide names the entries of the whole package, and links to other guides. */
const guide = read('src/client/README.md')
  .replaceAll(/seller-product-api\/client\b/g, NAME)
  .replaceAll(/seller-product-api(?=\/webhooks\b)/g, NAME)
  .replaceAll(/\[([^\]]+)\]\(\.\.[^)]*\)/g, '$1');
const manifest = JSON.parse(read('package.json'));
const kept = new Set<string>();
for (const entry of Object.values(ENTRIES)) {
  const { types, default: module } = manifest.exports[entry];
  keep(types, (path) => path.replace(/\.js$/, '.d.ts'), (path) => {
    write(path, read(path).replace(/^\/\/# sourceMappingURL=.*\n?/m, ''));
    return [];
  });
  keep(module, (path) => path, (path) =>
    [`${path}.map`, path.replace('dist/', 'src/').replace(/\.js$/, '.ts')]);
}
for (const path of globSync('{dist,src,data}/**/*.*', { cwd: folder })) {
  if (!kept.has(path)) rmSync(join(folder, path));
}
for (const path of ['SECURITY.md', 'CHANGELOG.md']) rmSync(join(folder, path));
write('README.md', guide);
const { bin, engines, ...rest } = manifest;
write('package.json', JSON.stringify({
  ...rest,
  name: NAME, description: 'The client of a self-hosted Seller Product API, without dependencies.',
  sideEffects: false, files: ['dist', 'src', 'README.md'],
  exports: Object.fromEntries(Object.entries(ENTRIES).map(([entry, whole]) =>
    [entry, manifest.exports[whole]])),
}, null, 2));

/** Keeps a module or a declaration, its companion files, and what it imports. */
function keep(
  start: string, resolve: (path: string) => string, findOthers: (path: string) => string[],
): void {
  const path = joinPosix(start);
  if (kept.has(path)) return;
  for (const file of [path, ...findOthers(path)]) kept.add(file);
  for (const [, target = ''] of read(path).matchAll(IMPORT)) {
    keep(resolve(joinPosix(path, '..', target)), resolve, findOthers);
  }
}

function read(path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

function write(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
}
