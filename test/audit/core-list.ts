/**
 * Reads the core from `src/README.md`: the numbered files that keep the promises, and the files
 * that they import, some of which keep them, too.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, normalize } from 'node:path';
import { ROOT, type SourceText } from './places.ts';

interface CoreList {
  /** In reading order. */
  readonly files: readonly { readonly path: string; readonly proves: string }[];
  /** Files, globs, and folders (with a final slash), which include the files in them. */
  readonly imported: readonly string[];
  /** Those of `imported` that keep promises: marked with a star. */
  readonly starred: readonly string[];
}

export function readCoreList(): CoreList {
  const text = readFileSync(join(ROOT, 'src/README.md'), 'utf8');
  const [, core = ''] = /^## The core$([^]*?)^## /m.exec(text) ?? [];
  const files = [...core.matchAll(/^\d+\. `([^`]+)` (.+)$/gm)]
    .map(([, path = '', proves = '']) => ({ path, proves }));
  const entries = [...core.matchAll(/^- (`.+`)( \\\*)? /gm)].map(([, list = '', star]) => ({
    isStarred: star !== undefined,
    paths: [...list.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
  }));
  return {
    files,
    imported: entries.flatMap(({ paths }) => paths),
    starred: entries.flatMap(({ isStarred, paths }) => (isStarred ? paths : [])),
  };
}

/** Whether an entry of `imported` includes a file. */
export function standsFor(entry: string, path: string): boolean {
  return matchesGlob(path, entry.endsWith('/') ? `${entry}*.ts` : entry);
}

interface CoreSize {
  /** Lines of the files that keep promises, as `wc -l` counts them. */
  readonly lines: number;
  /** Lines of all that is loaded with these files. */
  readonly loadedLines: number;
}

export function measureCore(sources: readonly SourceText[]): CoreSize {
  const { files, starred } = readCoreList();
  const core = sources.filter(({ path }) =>
    files.some((file) => file.path === path) || starred.some((entry) => standsFor(entry, path)));
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const loaded = new Set(core);
  for (const source of loaded) {
    for (const path of listLoaded(source)) {
      const target = byPath.get(path);
      if (target) loaded.add(target);
    }
  }
  const count = (list: Iterable<SourceText>): number =>
    [...list].reduce((sum, { lines }) => sum + lines.length, 0);
  return { lines: count(core), loadedLines: count(loaded) };
}

/** The files that a module loads: not those of which it only imports types. */
function listLoaded({ path, lines }: SourceText): readonly string[] {
  const statement = /^(?:import|export) (?!type )[^;'(]*'(\.[^']+)'/gm;
  return [...lines.join('\n').matchAll(statement)]
    .map(([, target = '']) => normalize(join(dirname(path), target)));
}
