/**
 * Asks for confirmation before a command deletes something. Without a terminal, the command needs
 * `--yes`.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CommandFailure, type Input, UsageError } from './command.ts';
import { printable } from './printable.ts';

export const YES_FLAG = { yes: { help: 'delete without asking for confirmation' } };

/** @throws UsageError without `--yes` and a terminal; CommandFailure unless the answer is yes */
export async function confirm({ flags, io }: Input, question: string): Promise<void> {
  if (flags['yes'] !== undefined) return;
  if (!io.stdin.isTTY || !io.stderr.isTTY) {
    throw new UsageError('There is no terminal to ask for confirmation: add --yes.');
  }
  io.stderr.write(`${printable(question)} [y/N] `);
  using lines = createInterface({ input: io.stdin });
  const end = new AbortController();
  const wait = (source: NodeJS.EventEmitter, event: string): Promise<unknown[]> =>
    once(source, event, { signal: end.signal }).catch(() => []); // another one was first
  const [answer] = await Promise.race([
    wait(lines, 'line'), wait(lines, 'close').then(() => ['']),
    wait(io, 'SIGINT').then(() => [undefined]),
  ]);
  end.abort();
  if (/^y(?:es)?$/i.test(String(answer).trim())) return;
  const exitStatus = answer === undefined ? 130 : 1;
  throw new CommandFailure('Cancelled. Nothing was deleted.', { exitStatus });
}
