/**
 * Reads a secret that somebody types, or that another program hands over: from standard input and
 * never from an argument, which stays in the history of a shell, and which other users could read.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { SECRET_INPUT_LIMIT_CHARACTERS } from '../limits.ts';
import { CommandFailure } from '../command.ts';

const CANCELLED = 'Cancelled. Nothing was changed.';

/** What of standard input is needed here. */
type Source = Readable & { readonly isTTY?: boolean };

/**
 * The first line. On a terminal it is asked for twice, by `label`, and not shown.
 * @throws CommandFailure
 */
export async function readSecret(
  source: Source, label: string, note: (text: string) => void,
): Promise<string> {
  if (!source.isTTY) return readLine(source);
  const [first, second] = await askTwice(source, [label, `${label} once more`], note);
  if (first === second) return first;
  throw new CommandFailure('These two differ. Nothing was changed; try again.');
}

async function readLine(source: Source): Promise<string> {
  let text = '';
  for await (const chunk of source.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('\n') || text.length > SECRET_INPUT_LIMIT_CHARACTERS) break;
  }
  return text.split(/\r?\n/, 1)[0] ?? '';
}

/** Whatever readline would show goes nowhere. */
async function askTwice(
  input: Source, labels: readonly [string, string], note: (text: string) => void,
): Promise<[string, string]> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input, output, terminal: true });
  const ended = Promise.race([once(terminal, 'SIGINT'), once(terminal, 'close')]).then(() => {
    throw new CommandFailure(CANCELLED);
  });
  ended.catch(() => {}); // it is heard below while somebody waits
  const ask = async (label: string): Promise<string> => {
    note(`${label} (it is not shown):`);
    const [line] = await Promise.race([once(terminal, 'line'), ended]);
    return String(line);
  };
  try {
    return [await ask(labels[0]), await ask(labels[1])];
  } finally {
    terminal.close();
  }
}
