/**
 * A cache of stripped sources for `make coverage`: `node test/support/strip-cache.js` writes it,
 * and with `--import` of this file Node loads TypeScript from it. Node's own compile cache would
 * make coverage less precise, and without a cache each of the thousands of processes strips every
 * file that it loads, which takes most of the time. Stripping keeps the positions of code, so the
 * coverage applies to the sources as they are.
 */
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, '.node/strip-cache', process.version);

/** @param {string} source */
function pathOf(source) {
  return join(FOLDER, createHash('sha256').update(source).digest('hex'));
}

if (process.argv[1] === import.meta.filename) {
  mkdirSync(FOLDER, { recursive: true });
  for (const path of globSync('{src,test}/**/*.ts', { cwd: ROOT })) {
    const source = readFileSync(join(ROOT, path), 'utf8');
    writeFileSync(pathOf(source), stripTypeScriptTypes(source));
  }
} else {
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.endsWith('.ts')) return nextLoad(url, context);
      try {
        const source = readFileSync(pathOf(readFileSync(new URL(url), 'utf8')), 'utf8');
        return { format: 'module', source, shortCircuit: true };
      } catch {
        return nextLoad(url, context); // not in the cache, or no file
      }
    },
  });
}
