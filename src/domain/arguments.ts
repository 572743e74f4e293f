/**
 * Validates the objects that a program passes to the embedding API: options, and data that arrives
 * by no request. As for requests, all errors are collected, and a misspelt member is an error. As
 * usual in JavaScript, an undefined member counts as missing.
 */
import { AppError } from './error.ts';
import { invalid, ObjectReader, type ParseResult, stringValidator } from './validation.ts';

/** Parses the value of a member. */
export type Parse<Value> = (value: unknown) => ParseResult<Value>;

/** A parser for each member of `Members`. */
export type Parsers<Members> = {
  readonly [Member in keyof Members]-?: Parse<Exclude<Members[Member], undefined>>;
};

/**
 * The members of an argument.
 * @param subject Begins error messages, such as `keys.create`.
 * @throws AppError `invalid_data` with all issues; its message names each
 */
export function readArgument<Members extends object>(
  value: unknown, subject: string, parsers: Parsers<Members>,
  required: readonly (keyof Members & string)[] = [],
): Members {
  if (!isObject(value)) throw wrongArgument(subject, 'Must be an object.');
  const reader = new ObjectReader(
    Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)));
  const members = Object.entries<Parse<unknown>>(parsers).map(([name, parse]) =>
    [name, reader.read(name, parse, required.some((member) => member === name))] as const);
  const error = reader.findError();
  if (error) throw explain(subject, error);
  // The cast: each parser returns its member's type, and no required member is missing.
  return Object.fromEntries(members.filter(([, member]) => member !== undefined)) as Members;
}

/** One argument. @throws AppError `invalid_data` */
export function readValue<Value>(value: unknown, subject: string, parse: Parse<Value>): Value {
  const parsed = parse(value);
  if ('value' in parsed) return parsed.value;
  throw wrongArgument(subject, parsed.error.detail);
}

/** @param subject Begins the message, as in `readArgument`. */
export function wrongArgument(subject: string, detail: string): AppError {
  const issues = [{ pointer: '', code: 'type', detail }] as const;
  return explain(subject, new AppError('invalid_data', detail, { issues }));
}

/** Names the issues in the message: a program's author reads that first. */
function explain(subject: string, { code, issues }: AppError): AppError {
  const list = issues.map(({ pointer = '', detail }) =>
    [pointer.slice(1), detail].filter((part) => part !== '').join(': '));
  return new AppError(code, `${subject}: ${list.join(' ')}`, { issues });
}

export const parseText = stringValidator.parse;

export function parseFunction<Value extends (...args: never) => unknown>(
  value: unknown,
): ParseResult<Value> {
  if (typeof value !== 'function') return invalid('type', 'Must be a function.');
  // The cast: a function does not show what it takes and returns.
  return { value: value as Value };
}

/** One of these texts. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]): Parse<Choice> {
  return (value) => {
    const choice = choices.find((candidate) => candidate === value);
    return choice === undefined ? invalid('format', `Must be one of: ${choices.join(', ')}.`)
      : { value: choice };
  };
}

export function listOf<Item>(parse: Parse<Item>): Parse<readonly Item[]> {
  return (value) => {
    if (!Array.isArray(value)) return invalid('type', 'Must be an array.');
    const items: Item[] = [];
    for (const item of value) {
      const parsed = parse(item);
      if ('error' in parsed) return invalid(parsed.error.code, `Each: ${parsed.error.detail}`);
      items.push(parsed.value);
    }
    return { value: items };
  };
}

/** An object of its own. */
export function objectWith<Members extends object>(parsers: Parsers<Members>): Parse<Members> {
  return (value) => {
    try {
      return { value: readArgument(value, '', parsers) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return invalid('type', error.publicDetail.slice(': '.length));
    }
  };
}

/** True, false, or an object that turns something on. */
export function switchWith<Members extends object>(
  parsers: Parsers<Members>,
): Parse<boolean | Members> {
  const parse = objectWith(parsers);
  return (value) => {
    if (typeof value === 'boolean') return { value };
    return isObject(value) ? parse(value) : invalid('type', 'Must be true, false or an object.');
  };
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
