/**
 * Reads the core from `src/README.md`: the numbered files that keep the three promises, and the
 * files that they import, each with the reason why no promise depends on it.
 */
import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { ROOT } from './places.ts';

export const CORE_LINES_LIMIT = 4_000;

interface CoreList {
  /** In reading order. */
  readonly files: readonly { readonly path: string; readonly proves: string }[];
  /** Files, globs, and folders (with a final slash), which include the files in them. */
  readonly imported: readonly string[];
}

export function readCoreList(): CoreList {
  const text = readFileSync(join(ROOT, 'src/README.md'), 'utf8');
  const [, core = ''] = /^## The core$([^]*?)^## /m.exec(text) ?? [];
  const files = [...core.matchAll(/^\d+\. `([^`]+)` (.+)$/gm)]
    .map(([, path = '', proves = '']) => ({ path, proves }));
  const imported = [...core.matchAll(/^- (`.+`) /gm)]
    .flatMap(([, list = '']) => [...list.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path));
  return { files, imported };
}

/** Whether an entry of `imported` includes a file. */
export function standsFor(entry: string, path: string): boolean {
  return matchesGlob(path, entry.endsWith('/') ? `${entry}*.ts` : entry);
}
