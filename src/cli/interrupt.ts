/** Ctrl-C amid work that leaves something behind: it is removed before the process ends. */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * What the work resolves with. A signal ends the process with 128 and its number, after `clean` has
 * removed what must not stay, and its text was written.
 */
export async function withInterrupt<Result>(
  work: () => Promise<Result>, clean: () => string,
): Promise<Result> {
  const end = (signal: (typeof SIGNALS)[number]): void => {
    // On a terminal the cursor may stand in a line of progress.
    process.stderr.write(`${process.stderr.isTTY ? '\n' : ''}${clean()}\n`);
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
  }
}
