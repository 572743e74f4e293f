/**
 * With `--import` of this file, a process and its threads load other sources instead of some
 * modules: `REPLACED_MODULES` is a JSON file with the paths of the sources, by URL.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** @type {Readonly<Record<string, string>>} */
const sources = JSON.parse(readFileSync(process.env['REPLACED_MODULES'] ?? '', 'utf8'));

registerHooks({
  load(url, context, nextLoad) {
    const path = sources[url];
    if (path === undefined) return nextLoad(url, context);
    return { format: 'module', source: readFileSync(path, 'utf8'), shortCircuit: true };
  },
});
