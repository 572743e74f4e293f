/** What a command of the command line is, and what it is given. */
import { parseArgs } from 'node:util';
import { DEFAULT_DATA_FOLDER } from '../config.ts';

/** One flag: `value` names its value in the help; a flag without one is a switch. */
interface Flag {
  readonly value?: string;
  readonly help: string;
  /** Whether a variable `SELLER_API_...` may give it too. */
  readonly isSetting?: boolean;
}

export interface Input {
  /** The flags that were given, and the settings of the environment. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  /** What was given without a flag, as many as `operands` of the command. */
  readonly operands: readonly string[];
  readonly isJson: boolean;
  /** Folder of the database. */
  readonly dataFolder: string;
  readonly out: (text: string) => void;
  readonly note: (text: string) => void;
}

export interface Command {
  readonly summary: string;
  /** Names of the operands, each of which must be given. */
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, Flag>>;
  run(input: Input): Promise<void>;
}

/** The command line was not understood: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const COMMON_FLAGS: Readonly<Record<string, Flag>> = {
  data: {
    value: 'DIR', isSetting: true, help: `folder of the database (default: ${DEFAULT_DATA_FOLDER})`,
  },
  json: { help: 'print one JSON document on standard output' },
  help: { help: 'print this' },
};

/**
 * Reads the arguments after the command's name. Undefined where `--help` is among them.
 * @throws UsageError
 */
export function parseInput(
  command: Command, args: readonly string[], environment: Readonly<NodeJS.ProcessEnv>,
): Input | undefined {
  const flags = { ...command.flags, ...COMMON_FLAGS };
  const { values, positionals } = parse(flags, args);
  if (values['help']) return undefined;
  const { operands } = command;
  if (positionals.length !== operands.length) throw wrongOperands(operands, positionals);
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
    isJson: all['json'] === 'true',
    dataFolder: all['data'] ?? DEFAULT_DATA_FOLDER,
    out: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
  };
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
  const flags = Object.entries({ ...command.flags, ...COMMON_FLAGS });
  const lines = flags.map(([flag, { value, help, isSetting }]) => {
    const usage = `--${flag}${value === undefined ? '' : ` ${value}`}`;
    return `  ${usage.padEnd(24)} ${help}${isSetting ? ` [${variableOf(flag)}]` : ''}`;
  });
  const usage = ['seller-api', name, ...command.operands, '[FLAGS]'].join(' ');
  return `${command.summary}\n\nUsage: ${usage}\n\n${lines.join('\n')}`;
}

function variableOf(flag: string): string {
  return `SELLER_API_${flag.toUpperCase().replaceAll('-', '_')}`;
}

function parse(flags: Readonly<Record<string, Flag>>, args: readonly string[]) {
  const options = Object.fromEntries(Object.entries(flags).map(([name, { value }]) =>
    [name, { type: value === undefined ? 'boolean' as const : 'string' as const }]));
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The first sentence of Node's message names the flag and says what is wrong with it.
    throw new UsageError(`${error.message.split(/\.? To |\n/)[0]}.`);
  }
}
