/** What a command of the command line is, and what it is given. */
import { parseArgs } from 'node:util';
import { DEFAULT_DATA_FOLDER } from './limits.ts';
import { findNearest } from './nearest.ts';

/** One flag: `value` names its value in the help; a flag without one is a switch. */
interface Flag {
  readonly value?: string;
  readonly help: string;
  /** Whether a variable `SELLER_API_...` may give it too. */
  readonly isSetting?: boolean;
}

export type Flags = Readonly<Record<string, Flag>>;

export interface Input {
  /** The flags that were given, and the settings of the environment. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  /** What was given without a flag, as many as `operands` of the command, or but for the last. */
  readonly operands: readonly string[];
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly isJson: boolean;
  /** Folder of the database. */
  readonly dataFolder: string;
  readonly out: (text: string) => void;
  readonly note: (text: string) => void;
}

export interface Command {
  readonly summary: string;
  /** Names of the operands; the last may be left out where it is named like `[FILE]`. */
  readonly operands: readonly string[];
  readonly flags: Flags;
  /** Whether it works without a database of its own: it has no `--data` then. */
  readonly isRemote?: boolean;
  run(input: Input): Promise<void>;
}

/** The command line was not understood: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command could not do what it was told to: exit status 1. The text says what to do. */
export class CommandFailure extends Error {
  override readonly name: string = 'CommandFailure';
}

const DATA_FLAG: Flag = {
  value: 'DIR', isSetting: true, help: `folder of the database (default: ${DEFAULT_DATA_FOLDER})`,
};
const COMMON_FLAGS: Flags = {
  json: { help: 'print one JSON document on standard output, also on failure' },
  help: { help: 'print this (also -h)' },
};

/**
 * Reads the arguments after the command's name. Undefined where `--help` is among them.
 * @throws UsageError
 */
export function parseInput(
  command: Command, args: readonly string[], environment: Readonly<NodeJS.ProcessEnv>,
): Input | undefined {
  const flags = listFlags(command);
  const { values, positionals } = parse(flags, args);
  if (values['help']) return undefined;
  const { operands } = command;
  const least = operands.filter((name) => !name.startsWith('[')).length;
  if (positionals.length < least || positionals.length > operands.length) {
    throw wrongOperands(operands, positionals);
  }
  const given = Object.entries(flags).map(([name, flag]): [string, string | undefined] => {
    // An empty variable is none: that is how many tools leave a setting out.
    const setting = (flag.isSetting && environment[variableOf(name)]) || undefined;
    const value = values[name];
    return [name, value === undefined ? setting : String(value)];
  });
  const all = Object.fromEntries(given);
  return {
    flags: all,
    operands: positionals,
    environment,
    isJson: all['json'] === 'true',
    dataFolder: all['data'] ?? DEFAULT_DATA_FOLDER,
    out: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
  };
}

/**
 * Refuses an API key among the arguments, whatever the command: without repeating it.
 * @throws UsageError
 */
export function assertNoKey(args: readonly string[]): void {
  if (!args.some((text) => /spk_[0-9A-Za-z]{20}/.test(text))) return;
  throw new UsageError('There is an API key among the arguments: it is in the history of your shell'
    + ' now, and other users could see it. Revoke it with "key revoke", and give its successor in'
    + ' the variable SELLER_API_KEY or in a file with --key-file.');
}

function wrongOperands(operands: readonly string[], given: readonly string[]): UsageError {
  if (operands.length === 0) {
    return new UsageError(`This command takes flags alone, not "${given[0]}".`);
  }
  const hint = given.length > operands.length ? ', in quotes where it has spaces' : '';
  return new UsageError(`Give ${operands.join(' ')}${hint}.`);
}

/** The help of one command. */
export function formatHelp(name: string, command: Command): string {
  const lines = Object.entries(listFlags(command)).map(([flag, { value, help, isSetting }]) => {
    const usage = `--${flag}${value === undefined ? '' : ` ${value}`}`;
    return `  ${usage.padEnd(26)} ${help}${isSetting ? ` [${variableOf(flag)}]` : ''}`;
  });
  const usage = ['seller-api', name, ...command.operands, '[FLAGS]'].join(' ');
  return `${command.summary}\n\nUsage: ${usage}\n\n${lines.join('\n')}`;
}

function listFlags({ flags, isRemote }: Command): Flags {
  return { ...flags, ...(isRemote ? {} : { data: DATA_FLAG }), ...COMMON_FLAGS };
}

function variableOf(flag: string): string {
  return `SELLER_API_${flag.toUpperCase().replaceAll('-', '_')}`;
}

function parse(flags: Flags, args: readonly string[]) {
  const options = Object.fromEntries(Object.entries(flags).map(([name, { value }]) => {
    const type = value === undefined ? 'boolean' as const : 'string' as const;
    return [name, { type, ...(name === 'help' && { short: 'h' }) }];
  }));
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [, flag] = /^Option '(--[\w-]+)'.* is ambiguous/.exec(error.message) ?? [];
    if (flag !== undefined) {
      throw new UsageError(`${flag} takes a value; one with a dash first follows as ${flag}=-....`);
    }
    const [, unknown] = /^Unknown option '--?([^']*)'/.exec(error.message) ?? [];
    const nearest = findNearest(unknown ?? '', Object.keys(flags));
    if (nearest !== undefined) {
      throw new UsageError(`There is no flag --${unknown}. Did you mean --${nearest}?`);
    }
    // The first sentence of Node's message names the flag and says what is wrong with it.
    throw new UsageError(`${error.message.split(/\.? To |\n/)[0]}.`);
  }
}
