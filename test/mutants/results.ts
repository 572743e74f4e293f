/**
 * The results of a run, each written when it is there: `--resume` continues a run that ended early,
 * and runs only the mutants that no test has found, and those of files that have changed since.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Mutant } from './find-mutants.ts';
import type { MutantResult } from './run-mutant.ts';

interface StoredResult extends Omit<MutantResult, 'mutant'> {
  readonly id: string;
  /** Of the mutated file. */
  readonly hash: string;
}

export class Results {
  readonly #file: string;
  readonly #stored = new Map<string, StoredResult>();

  constructor(file: string, { isResumed }: { readonly isResumed: boolean }) {
    this.#file = file;
    mkdirSync(dirname(file), { recursive: true });
    if (!isResumed || !existsSync(file)) return;
    for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
      const stored = JSON.parse(line) as StoredResult; // as `add` wrote it
      this.#stored.set(stored.id, stored);
    }
  }

  /** The result of a mutant that a test has found. */
  find(mutant: Mutant): MutantResult | undefined {
    const stored = this.#stored.get(mutant.id);
    if (stored?.hash !== hashOf(mutant) || stored.outcome !== 'found') return undefined;
    const { id: _, hash: __, ...result } = stored;
    return { mutant, ...result };
  }

  add({ mutant, ...result }: MutantResult): void {
    const stored: StoredResult = { id: mutant.id, hash: hashOf(mutant), ...result };
    appendFileSync(this.#file, `${JSON.stringify(stored)}\n`);
  }
}

function hashOf({ source }: Mutant): string {
  return createHash('sha256').update(source).digest('hex').slice(0, 16);
}
