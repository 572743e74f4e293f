/** What a run of mutants prints: a line for each, a table, and what makes it fail. */
import type { Accepted } from './accepted.ts';
import type { Mutant } from './find-mutants.ts';
import { roomOf } from './guards.ts';
import type { MutantResult } from './run-mutant.ts';

export function describeResult({ mutant, outcome, test, failure, runs }: MutantResult): string {
  const why = outcome === 'found' ? `by ${test}: ${failure?.what.split('\n')[0]}`
    : outcome === 'crashed' ? `${failure?.what}: ${failure?.why.split('\n')[0]}` : '';
  return `${outcome} ${mutant.id} (${runs} files) ${why}`.trim();
}

/** Why the run fails; empty if it does not. */
export function listProblems(
  results: readonly MutantResult[], all: readonly Mutant[], accepted: Accepted,
): string[] {
  const existing = new Set(all.map(({ id }) => id));
  return [
    ...results.filter(({ outcome, mutant }) => outcome === 'survived' && !accepted.has(mutant.id))
      .map(({ mutant, runs }) => `survived ${runs} test files: ${mutant.id}`),
    ...results.filter(({ outcome, mutant }) => outcome === 'found' && accepted.has(mutant.id))
      .map(({ mutant }) => `accepted.txt lists a mutant that was found: ${mutant.id}`),
    ...[...accepted.keys()].filter((id) => !existing.has(id))
      .map((id) => `accepted.txt lists a mutant that does not exist: ${id}`),
  ];
}

/** Per operator and per room. */
export function formatTable(results: readonly MutantResult[], accepted: Accepted): string {
  const groups = [
    ...Map.groupBy(results, ({ mutant }) => mutant.operator),
    ...Map.groupBy(results, ({ mutant }) => roomOf(mutant.path)),
    ['all', results] as const,
  ];
  const heads = ['mutants', 'found', 'survived', 'accepted', 'crashed'];
  const rows = groups.map(([name, group]) => {
    const count = (outcome: MutantResult['outcome']): MutantResult[] =>
      group.filter((result) => result.outcome === outcome);
    const survivors = count('survived');
    const listed = survivors.filter(({ mutant }) => accepted.has(mutant.id)).length;
    return [
      name, group.length, count('found').length, survivors.length - listed, listed,
      count('crashed').length,
    ];
  });
  return [['', ...heads], ...rows].map(([name = '', ...cells]) => {
    const columns = cells.map((cell) => String(cell).padStart(10));
    return `${String(name).padEnd(26)}${columns.join('')}\n`;
  }).join('');
}
