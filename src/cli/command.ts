/**
 * The shape of a command, and how its arguments, help and result are parsed and printed. Every
 * command has `--json` and `--help`, and local ones say where the catalogue is. A flag marked as a
 * setting can also be set by an environment variable; the flag wins.
 */
import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import type { StoreLocation } from '../store/open-store.ts';
import { locationFlags, readFolder, readLocation } from './location.ts';
import { printableLines } from './printable.ts';
import { Table } from './table.ts';

/** One flag. It takes a value if it has a placeholder or choices; else it is a switch. */
export interface Flag {
  /** Placeholder of the value in the help, such as `FILE`. Default: the choices. */
  readonly value?: string;
  readonly help: string;
  /** The values that it takes, if there are no others. */
  readonly choices?: readonly string[];
  /** Whether it takes several of the choices, separated by commas. */
  readonly isList?: boolean;
  /** The least and the largest whole number that it takes, if it takes a number. */
  readonly range?: readonly [least: number, largest?: number];
  /** Whether it may be given several times: its values are lines of one text. */
  readonly isRepeated?: boolean;
  /** Whether the environment variable `SELLER_API_...` can set it too. */
  readonly isSetting?: boolean;
}

export type Flags = Readonly<Record<string, Flag>>;

/** A setting of `serve` that takes a value. */
export function setting(value: string, help: string, range?: Flag['range']): Flag {
  return { value, help, isSetting: true, ...(range && { range }) };
}

/** `columns` is the width of a terminal; 0 or undefined if unknown. */
type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What commands use of their process: `process` itself. It emits SIGINT and SIGTERM. */
export interface CommandIo extends EventEmitter {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** What a command receives. */
export interface Input {
  /** Flags, and settings from the environment; a switch that is on is `'true'`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly operands: readonly string[];
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly io: CommandIo;
  readonly isJson: boolean;
  /** Where the catalogue is. */
  readonly location: StoreLocation;
  /** Writes a line to standard output. */
  readonly out: (text: string) => void;
  /** Writes a line to standard error. */
  readonly note: (text: string) => void;
}

/** What a command prints at its end. */
export interface Result {
  /** The JSON document that `--json` prints instead of the texts. */
  readonly document: object;
  /** For standard error. */
  readonly note?: string;
  /** For standard output, as a table, which fits the terminal if there is one. */
  readonly rows?: readonly object[];
  /** For standard output, after the rows. */
  readonly text?: string;
}

export interface Command {
  readonly summary: string;
  /**
   * Names of its operands. The last may be optional, in brackets: `[FILE]`; or be given more than
   * once: `NAME=VALUE...`, `[SKU]...`. Words in lower case are a choice: `on|off`.
   */
  readonly operands?: readonly string[];
  /** Flags in addition to those of every command. */
  readonly flags?: Flags;
  /** Whether it opens no catalogue, or says by flags of its own where one is. */
  readonly isRemote?: boolean;
  /** Whether it prints rows while it runs: with --json, each is a JSON object on its own line. */
  readonly isStream?: boolean;
  /** Returns its result, unless it prints while it runs. */
  run(input: Input): Promise<Result | void>;
}

/** All commands by name, such as `key list`; each is loaded when it is needed. */
export type CommandTable = ReadonlyMap<string, () => Promise<Command>>;

/** Explains errors that commands of one kind have in common. */
export interface FailureExplainer {
  /** The failure to report for an error; any other error is returned unchanged. */
  explainFailure(error: unknown): unknown;
  /** The problem document of a server that an error is due to. */
  findProblem(error: unknown): object | undefined;
}

/** Invalid arguments: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command failed: exit status 1, unless it has another one. The message says what to do. */
export class CommandFailure extends Error {
  override readonly name: string = 'CommandFailure';
  readonly exitStatus: number;

  constructor(
    message: string,
    { exitStatus = 1, ...options }: ErrorOptions & { readonly exitStatus?: number } = {},
  ) {
    super(message, options);
    this.exitStatus = exitStatus;
  }
}

const COMMON_FLAGS: Flags = {
  json: { help: 'print one JSON document to standard output, even on failure' },
  help: { help: 'print this help (also -h)' },
};
const JSON_LINES_FLAG: Flag = { help: 'print one JSON object per line, even on failure' };
/** Example values in messages, for placeholders that do not explain themselves. */
const EXAMPLES: Readonly<Record<string, string>> = {
  ADDRESS: '127.0.0.1', CIDR: '10.0.0.0/8', DIR: '/srv/stock', DURATION: '24h',
  EMAIL: 'ada@shop.example', FILE: 'products.csv', GTIN: '4006381333931', N: '20',
  MOMENT: '2026-11-01T00:00:00Z', NAME: 'shop', PATH: '/run/shop.sock', POSITION: '12',
  PRICE: '12.50', SKU: 'MUG-1', TEXT: '"blue mug"', TIME: '2026-11-01T00:00:00Z',
  URL: 'https://shop.example',
};
/** The help lists no more choices than these, such as those of `--fields`. */
const CHOICES_SHOWN = 20;
/** A shorter word is within two edits of too many others. */
const SHORT_WORD_CHARACTERS = 4;

/** Runs a command and prints its result. */
export async function runCommand(command: Command, input: Input): Promise<void> {
  const result = await command.run(input);
  if (!result) return;
  if (input.isJson) return input.out(JSON.stringify(result.document));
  if (result.note !== undefined) input.note(result.note);
  if (result.rows) input.out(new Table(input.io.stdout).format(result.rows));
  if (result.text !== undefined) input.out(result.text);
}

/**
 * Parses the arguments after the command's name; undefined if they include `--help`.
 * @throws UsageError
 */
export function parseInput(
  command: Command, args: readonly string[], io: CommandIo,
): Input | undefined {
  const commandFlags = listFlags(command);
  const { values, positionals } = parse(commandFlags, args);
  if (values['help']) return undefined;
  assertOperands(command.operands ?? [], positionals);
  const flags = Object.fromEntries(Object.entries(commandFlags).map(([name, flag]) => {
    // An empty variable counts as unset: many tools can only omit a setting that way.
    const setting = (flag.isSetting && io.env[variableOf(name)]) || undefined;
    const value = values[name] ?? setting;
    if (value !== undefined) assertValue(name, flag, value);
    return [name, value];
  }));
  return {
    flags,
    operands: positionals,
    environment: io.env,
    io,
    isJson: flags['json'] === 'true',
    location: command.isRemote ? readFolder(flags)
      : readLocation({ flags: values, values: flags, environment: io.env }),
    out: (text) => void io.stdout.write(`${text}\n`),
    note: (text) => void io.stderr.write(`${printableLines(text)}\n`),
  };
}

/** The help of one command. */
export function formatHelp(name: string, command: Command): string {
  const lines = Object.entries(listFlags(command)).map(([name, flag]) => {
    const usage = [`--${name}`, placeholderOf(flag)].filter(Boolean).join(' ');
    const variable = flag.isSetting ? ` [${variableOf(name)}]` : '';
    return `  ${usage.padEnd(26)} ${flag.help}${describeValues(flag)}${variable}`;
  });
  const usage = ['seller-api', name, ...command.operands ?? [], '[FLAGS]'].join(' ');
  return `${command.summary}\n\nUsage: ${usage}\n\n${lines.join('\n')}`;
}

/** Suggests the known name nearest to a mistyped one, by edit distance. */
export function findNearest(word: string, names: Iterable<string>): string | undefined {
  const candidates = [...names];
  const limits = word.length < SHORT_WORD_CHARACTERS ? [1] : [1, 2];
  const near = limits.map((edits) => candidates.find((name) => isWithin(edits, word, name)));
  return near.find((name) => name !== undefined);
}

function assertOperands(names: readonly string[], operands: readonly string[]): void {
  const required = names.filter((name) => !name.startsWith('['));
  const limit = names.at(-1)?.endsWith('...') ? Infinity : names.length;
  const empty = operands.indexOf('');
  if (empty >= 0 && empty < limit) {
    throw new UsageError(`${(names[empty] ?? names.at(-1))?.replace(/\W+$|^\W/g, '')} is empty.`);
  }
  if (operands.length >= required.length && operands.length <= limit) return;
  if (names.length === 0) {
    throw new UsageError(`This command takes only flags, not "${operands[0]}".`);
  }
  const hint = operands.length > limit ? ', in quotes if it contains spaces' : '';
  throw new UsageError(`Give ${names.join(' ').replace(/[[\]]|\.{3}/g, '')}${hint}.`);
}

/** The flags of a command, with those that every command has. */
export function listFlags({ flags, isRemote, isStream }: Command): Flags {
  return {
    ...flags, ...(isRemote ? {} : locationFlags),
    ...COMMON_FLAGS, ...(isStream && { json: JSON_LINES_FLAG }),
  };
}

function variableOf(flag: string): string {
  return `SELLER_API_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/** The placeholder of a flag's value in the help; undefined for a switch. */
export function placeholderOf({ value, choices }: Flag): string | undefined {
  return value ?? choices?.join('|');
}

/** The values that a flag takes, for its help, unless its placeholder says it. */
function describeValues({ value, choices = [], range }: Flag): string {
  if (range) return `; ${formatRange(range)}`;
  return value === undefined || choices.length === 0 || choices.length > CHOICES_SHOWN ? ''
    : `: ${choices.join(', ')}`;
}

function formatRange([least, largest]: NonNullable<Flag['range']>): string {
  return largest === undefined ? `from ${least} up` : `from ${least} to ${largest}`;
}

/** A setting may be given twice: the last value applies, so that it can override another. */
function parse(flags: Flags, args: readonly string[]) {
  const options = Object.fromEntries(Object.entries(flags).map(([name, flag]) => {
    const type = placeholderOf(flag) === undefined ? 'boolean' as const : 'string' as const;
    return [name, { type, ...(name === 'help' && { short: 'h' }) }];
  }));
  // No flag is a number, so `-2` is an operand or a value. No argument contains a NUL.
  const marked = args.map((arg) => arg.replace(/^-(?=\d)/, '\0-'));
  // Not strict: its messages name neither the value nor the remedy.
  const { tokens, positionals } = parseArgs({
    args: marked, options, allowPositionals: true, strict: false, tokens: true,
  });
  const values: Record<string, string> = {};
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (!flag) throw noSuchFlag(rawName.startsWith('--') ? rawName : args[token.index], flags);
    if (placeholderOf(flag) === undefined) {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value.`);
      values[name] = 'true';
      continue;
    }
    const isFlag = value?.startsWith('-') && !inlineValue && !flag.choices?.includes(value);
    if (!value || isFlag) throw lacksValue(name, flag, value, flags);
    values[name] = joinValues(rawName, flag, values[name], unmark(value));
  }
  return { positionals: positionals.map(unmark), values };
}

/** @throws UsageError for a flag that must not be given twice */
function joinValues(
  name: string, { isSetting, isRepeated }: Flag, earlier: string | undefined, value: string,
): string {
  if (earlier === undefined || isSetting) return value;
  if (isRepeated) return `${earlier}\n${value}`;
  throw new UsageError(`${name} is given twice.`);
}

function unmark(text: string): string {
  return text.replace('\0', '');
}

function noSuchFlag(typed = '', flags: Flags): UsageError {
  const nearest = findNearest(typed.replace(/^--?/, ''), Object.keys(flags));
  const hint = nearest === undefined ? 'If it is not a flag, put -- before it.'
    : `Did you mean --${nearest}?`;
  return new UsageError(`There is no flag ${typed}. ${hint}`);
}

/** `next` is the argument after the flag, if there is one. */
function lacksValue(name: string, flag: Flag, next: string | undefined, flags: Flags): UsageError {
  const isFlag = next === '--' || Object.hasOwn(flags, next?.replace(/^--|=.*/gs, '') ?? '');
  if (next && !isFlag) {
    return new UsageError(`A value of --${name} that starts with a dash needs an equals sign:`
      + ` --${name}=${next}`);
  }
  const placeholder = placeholderOf(flag) ?? '';
  const example = flag.choices?.[0] ?? EXAMPLES[placeholder] ?? placeholder.replace(',...', '');
  return new UsageError(`--${name} needs a value, such as --${name} ${example}.`);
}

/** @throws UsageError in terms of the flag, or of the variable that sets it */
function assertValue(name: string, { choices, isList, range }: Flag, value: string): void {
  if (range && !isInRange(range, value)) {
    throw new UsageError(`--${name} takes a whole number ${formatRange(range)}, not "${value}".`);
  }
  const wrong = choices && (isList ? value.split(/ *, */) : [value])
    .find((item) => !choices.includes(item));
  if (!choices || wrong === undefined) return;
  const nearest = findNearest(wrong, choices);
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  const words = choices.join(', ').replace(/, ([^,]*)$/, ' or $1');
  throw new UsageError(`--${name} takes ${words}, not "${wrong}".${hint}`);
}

function isInRange([least, largest = Infinity]: NonNullable<Flag['range']>, text: string): boolean {
  return /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= largest;
}

/**
 * Whether at most this many edits turn one text into the other: insertions, deletions, replacements
 * and swaps of adjacent characters (optimal string alignment distance).
 */
function isWithin(edits: number, from: string, to: string): boolean {
  if (from === to) return true;
  if (edits === 0) return false;
  if (from[0] === to[0]) return isWithin(edits, from.slice(1), to.slice(1));
  const isSwapped = from[0] === to[1] && from[1] === to[0];
  return isWithin(edits - 1, from.slice(1), to)
    || isWithin(edits - 1, from, to.slice(1))
    || isWithin(edits - 1, from.slice(1), to.slice(1))
    || (isSwapped && isWithin(edits - 1, from.slice(2), to.slice(2)));
}
