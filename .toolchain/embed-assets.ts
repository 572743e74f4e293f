/**
 * Embeds the files that modules read, as modules, so that programs with the package can be bundled
 * without settings: bundlers follow imports, and find no other files. A thread becomes one script,
 * since each bundler splits modules in its own way. esbuild, which comes with tsx, bundles it.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ESBUILD = join(import.meta.dirname, '../node_modules/esbuild/bin/esbuild');

/**
 * Changes the modules in `dist`, built from those in `src`.
 * @param entries The modules of `dist` that programs import
 */
export function embedAssets(folder: string, entries: readonly string[]): void {
  const dist = join(folder, 'dist');
  const replace = (name: string, load: (path: string) => unknown) => replaceFiles(
    dist, new RegExp(`\\b${name}\\((new URL\\('([^']+)', import\\.meta\\.url\\))`, 'g'), load);
  replace('readAssets?', (path) => readContents(join(folder, 'src', path)));
  replace('startThread', (path) => {
    const entry = path.replace(/\.ts$/, '.js');
    return `${bundle(dist, entry)}//# sourceURL=seller-product-api/${basename(entry)}\n`;
  });
  for (const entry of entries) bundle(folder, entry); // proves that nothing else needs a file
}

/**
 * Replaces the URLs of files in calls by imports of modules with their contents.
 * @param load Returns the contents for a path relative to the folder.
 */
function replaceFiles(dist: string, call: RegExp, load: (path: string) => unknown): void {
  for (const module of globSync('**/*.js', { cwd: dist })) {
    const text = readFileSync(join(dist, module), 'utf8');
    const imports: string[] = [];
    const replaced = text.replace(call, (whole, url: string, path: string) => {
      const name = `${basename(path, '.ts')}.text.js`;
      const value = JSON.stringify(load(join(dirname(module), path)));
      writeFileSync(join(dist, dirname(module), name), `export default ${value};\n`);
      imports.push(`import asset${imports.length} from './${name}';\n`);
      return whole.replace(url, `asset${imports.length - 1}`);
    });
    if (imports.length === 0) continue;
    // After the code, so that its lines stay where the map says: imports run first anyway.
    const end = replaced.lastIndexOf('//# sourceMappingURL=');
    writeFileSync(join(dist, module),
      replaced.slice(0, end) + imports.join('') + replaced.slice(end));
  }
}

function readContents(path: string): unknown {
  if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8');
  return Object.fromEntries(globSync('*', { cwd: path }).sort().map((name) =>
    [name, readFileSync(join(path, name), 'utf8')]));
}

/** A module and its imports as one script. Fails if one of them needs `import.meta.url`. */
function bundle(cwd: string, module: string): string {
  return execFileSync(ESBUILD, [
    module, '--bundle', '--platform=node', '--format=iife', '--log-level=warning',
    '--log-override:empty-import-meta=error',
    '--banner:js="use strict";', // as modules are
    '--tsconfig-raw={}', // reads none from a folder above
  ], { cwd, encoding: 'utf8', maxBuffer: Infinity });
}
