/**
 * Which test files have found mutants of a guard file: `finders.txt`, which each run without
 * `--subset` updates. They are tried first, and are all that a subset runs.
 */
import { readFileSync, writeFileSync } from 'node:fs';

/** More would find little, and a subset runs them all for each survivor. */
const FINDERS_LIMIT = 6;

export class Finders {
  readonly #file: string;
  /** By the path of a guard file: those of the runs before, the best first. */
  readonly #recorded: Map<string, readonly string[]>;
  /** How many mutants each test found in this run. */
  readonly #counts = new Map<string, Map<string, number>>();

  constructor(file: string) {
    this.#file = file;
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    this.#recorded = new Map(lines.map((line) => {
      const [path = '', ...tests] = line.split(/:? /);
      return [path, tests];
    }));
  }

  add(path: string, test: string): void {
    const counts = this.#counts.get(path) ?? new Map<string, number>();
    this.#counts.set(path, counts.set(test, (counts.get(test) ?? 0) + 1));
  }

  /** The best first. */
  of(path: string): readonly string[] {
    const counts = [...this.#counts.get(path) ?? []].sort(([, one], [, other]) => other - one);
    const tests = [...counts.map(([test]) => test), ...this.#recorded.get(path) ?? []];
    return [...new Set(tests)].slice(0, FINDERS_LIMIT);
  }

  write(): void {
    const paths = [...new Set([...this.#recorded.keys(), ...this.#counts.keys()])].sort();
    const lines = paths.map((path) => `${path}: ${this.of(path).join(' ')}\n`);
    writeFileSync(this.#file, lines.join(''));
  }
}
