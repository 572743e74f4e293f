/** Which guards have changed since a commit. */
import { spawnSync } from 'node:child_process';
import type { Mutant } from './find-mutants.ts';

/**
 * Whether a line of a mutant's guard was not in its file at that commit; undefined if the history
 * does not have it, as in a shallow clone.
 */
export function findChanges(
  root: string, paths: readonly string[], commit: string,
): ((mutant: Pick<Mutant, 'path' | 'lines'>) => boolean) | undefined {
  const git = (...args: readonly string[]): string | undefined => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    return status === 0 ? stdout : undefined;
  };
  const changed = git('diff', '--name-only', '--relative', commit, '--', ...paths)
    ?.split('\n').filter(Boolean);
  if (!changed) return undefined;
  const oldLines = new Map(changed.map((path) => {
    const lines = git('show', `${commit}:./${path}`)?.split('\n').map((line) => line.trim());
    return [path, new Set(lines)] as const;
  }));
  return ({ path, lines }) => lines.some((line) => oldLines.get(path)?.has(line) === false);
}
