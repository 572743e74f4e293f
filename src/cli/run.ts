/**
 * How a command is run: finds it in the table of all commands, runs it and explains its failure in
 * one line. Uses nothing of the process but what `io` gives it, except for `serve`, `demo` and the
 * exit of a command that a signal interrupts.
 */
import { inspect } from 'node:util';
import { AppError } from '../domain/error.ts';
import {
  CommandFailure, type CommandIo, findNearest, formatHelp, parseInput, runCommand, UsageError,
} from './command.ts';
import { commands, explainers } from './commands.ts';
import { printableLines } from './printable.ts';
import { VERSION } from '../runtime/version.ts';

/** Returns the exit status of the command: 0, 1 (failure) or 2 (invalid arguments). */
export async function run(words: readonly string[], io: CommandIo): Promise<number> {
  /** Whether the command has printed its one JSON document, which then also reports the failure. */
  let hasPrinted = false;
  try {
    await dispatch(words, io, () => { hasPrinted = true; });
    return 0;
  } catch (error) {
    // Not loaded if the process cannot open more files, which may be why the command failed.
    const loaded = await Promise.all(explainers.map((load) => load())).catch(() => []);
    const { status, detail } = explain(
      loaded.reduce((failure, { explainFailure }) => explainFailure(failure), error));
    io.stderr.write(`${printableLines(detail)}\n`);
    const isJson = words.includes('--json') && !hasPrinted;
    const problem = loaded.map(({ findProblem }) => findProblem(error)).find(Boolean);
    if (isJson) print(io, JSON.stringify({ error: { detail, exit_status: status, problem } }));
    return status;
  }
}

async function dispatch(
  words: readonly string[], io: CommandIo, onPrinted: () => void,
): Promise<void> {
  assertNoKey(words);
  const [first = '', second] = words;
  if (first === '--version') return print(io, describeVersion(words.includes('--json')));
  if (first === '-h' || first === 'help' || (first === '--help' && second !== undefined)) {
    const others = words.slice(1).filter((word) => word !== '--help');
    return dispatch([...others, '--help'], io, onPrinted);
  }
  const name = [`${first} ${second}`, first].find((text) => commands.has(text));
  const load = commands.get(name ?? '');
  if (name === undefined || !load) return print(io, await formatOverview(words));
  const command = await load();
  const input = parseInput(command, words.slice(name.split(' ').length), io);
  if (!input) return print(io, formatHelp(name, command));
  await runCommand(command, {
    ...input,
    out(text) {
      if (!command.isStream) onPrinted();
      input.out(text);
    },
  });
}

/**
 * Rejects an API key among the arguments of any command, without repeating it.
 * @throws UsageError
 */
function assertNoKey(args: readonly string[]): void {
  if (!args.some((text) => /spk_[0-9A-Za-z]{20}/.test(text))) return;
  throw new UsageError('One of the arguments is an API key. It is now in your shell history,'
    + ' and other users could see it: revoke it with "key revoke". Pass its replacement in the'
    + ' variable SELLER_API_KEY, or in a file with --key-file.');
}

/** Lists all commands, or those of a group such as `key`. @throws UsageError */
async function formatOverview(words: readonly string[]): Promise<string> {
  const [first = ''] = words;
  if (words.length === 0) throw new UsageError('Name a command.');
  const typed = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  const isGroup = typed.length === 1 && first === typed[0] && listGroups().includes(first);
  const isHelp = words.includes('--help') || words.includes('-h');
  if (!isGroup && !(isHelp && typed.length === 0)) throw noSuchCommand(words, typed);
  const names = [...commands.keys()].filter((name) => !isGroup || name.startsWith(`${first} `));
  const lines = await Promise.all(names.map(async (name) =>
    `  ${name.padEnd(21)} ${(await commands.get(name)?.())?.summary}`));
  const usage = `Usage: seller-api ${isGroup ? `${first} ` : ''}COMMAND [FLAGS]`;
  return `${usage}\n\n${lines.join('\n')}\n\nRun a command with --help to see its flags.`;
}

function listGroups(): string[] {
  return [...commands.keys()].flatMap((name) => name.split(' ').slice(0, -1));
}

function noSuchCommand(words: readonly string[], typed: readonly string[]): UsageError {
  const [first = ''] = typed;
  const nearest = findNearest(typed.join(' '), commands.keys())
    ?? findNearest(first, [...commands.keys(), ...listGroups()].filter((name) => name !== first));
  const own = [...commands.keys()].filter((name) => name.startsWith(`${first} `));
  const hint = nearest !== undefined ? ` Did you mean "${nearest}"?`
    : own.length > 0 ? ` Commands: ${own.join(', ')}.` : '';
  return new UsageError(`"${words.join(' ')}" is not a command.${hint}`);
}

function describeVersion(isJson: boolean): string {
  const node = process.version;
  return isJson ? JSON.stringify({ version: VERSION, node })
    : `seller-product-api ${VERSION} (Node ${node})`;
}

function print({ stdout }: CommandIo, text: string): void {
  stdout.write(`${text}\n`);
}

/** The reason for a failure, in one line if it is an expected one, and the exit status. */
function explain(error: unknown): { readonly status: number; readonly detail: string } {
  if (error instanceof UsageError) {
    const end = /[.?]$/.test(error.message) ? '' : '.';
    return { status: 2, detail: `${error.message}${end} Run with --help for usage.` };
  }
  if (error instanceof AppError && error.code === 'invalid_data') {
    return { status: 2, detail: error.message };
  }
  const isOurs = error instanceof CommandFailure
    || (error instanceof AppError && error.code !== 'internal');
  const isSystem = error instanceof Error && 'syscall' in error;
  const status = error instanceof CommandFailure ? error.exitStatus : 1;
  return { status, detail: isOurs || isSystem ? error.message : inspect(error) };
}
