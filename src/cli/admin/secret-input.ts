/**
 * Reads a secret from standard input, typed at a terminal or piped in. An argument would stay in
 * the shell history and be visible to other users.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { decodeMarkedText } from '../../domain/text.ts';
import { SECRET_INPUT_LIMIT_BYTES } from '../limits.ts';
import { CommandFailure, type CommandIo, type Input } from '../command.ts';

/**
 * Returns the first line. A terminal is prompted with each label, echoes nothing, and must get the
 * same answer each time.
 * @throws CommandFailure
 */
export async function readSecret(
  source: CommandIo['stdin'], labels: readonly string[], note: Input['note'],
): Promise<string> {
  if (!source.isTTY) return readLine(source);
  const [first = '', ...others] = await ask(source, labels, note);
  if (others.every((other) => other === first)) return first;
  throw new CommandFailure('The two entries differ. Nothing was changed; try again.');
}

async function readLine(source: CommandIo['stdin']): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of source) {
    bytes = Buffer.concat([bytes, Buffer.from(chunk)]);
    if (bytes.includes('\n') || bytes.length > SECRET_INPUT_LIMIT_BYTES) break;
  }
  return decodeMarkedText(bytes).split(/\r?\n/, 1)[0] ?? '';
}

/** Prompts for each value. Readline echoes to a stream that discards everything. */
async function ask(
  input: CommandIo['stdin'], labels: readonly string[], note: Input['note'],
): Promise<string[]> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  using terminal = createInterface({ input, output, terminal: true });
  const ended = Promise.race([once(terminal, 'SIGINT'), once(terminal, 'close')]).then(() => {
    throw new CommandFailure('Cancelled. Nothing was changed.');
  });
  ended.catch(() => {}); // handled below while an answer is awaited
  const answers: string[] = [];
  for (const label of labels) {
    note(`${label} (not shown):`);
    const [line] = await Promise.race([once(terminal, 'line'), ended]);
    answers.push(String(line));
  }
  return answers;
}
