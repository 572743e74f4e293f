/**
 * The modules of the store's threads, each bundled into one: `node test/support/thread-bundles.js`
 * writes the bundles, and with `--import` of this file threads load them instead. A test that opens
 * a store then takes half the CPU time; most of it is spent on finding a hundred modules. Not for
 * `make coverage`, which counts the lines of the sources.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, '.node/thread-bundles');
const ENTRIES = [
  'src/store/sqlite/engine/writer-thread.ts', 'src/store/sqlite/search/search-thread.ts',
];

if (process.argv[1] === import.meta.filename) {
  // esbuild comes with tsx.
  execFileSync(join(ROOT, 'node_modules/esbuild/bin/esbuild'), [
    ...ENTRIES, '--bundle', '--platform=node', '--format=esm', '--log-level=warning',
    `--outbase=${ROOT}`, `--outdir=${FOLDER}`,
  ], { cwd: ROOT });
} else {
  const bundles = new Map(ENTRIES.map((entry) =>
    [pathToFileURL(join(ROOT, entry)).href, join(FOLDER, entry.replace(/\.ts$/, '.js'))]));
  registerHooks({
    load(url, context, nextLoad) {
      const bundle = bundles.get(url);
      if (bundle === undefined) return nextLoad(url, context);
      return { format: 'module', source: readFileSync(bundle, 'utf8'), shortCircuit: true };
    },
  });
}
