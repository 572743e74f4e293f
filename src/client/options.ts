/**
 * The arguments of the client's methods, checked before anything is sent: a misspelt option must
 * not become a request without it. Options have names in camelCase; those that travel are
 * parameters or members of the API, whose names are in snake_case. Data are left to the server,
 * which validates them.
 */
import type { Issue } from '../domain/error.ts';
import { type ApiError, createApiError } from './errors.ts';

/** A response, as hooks receive it: without its body. */
export interface ReceivedResponse {
  /** Such as `GET`. */
  readonly method: string;
  /** With its query. */
  readonly url: string;
  /** 1 for the first attempt; 2 for its first retry. */
  readonly attempt: number;
  /** HTTP status. */
  readonly status: number;
  /** The header fields, such as `etag`. */
  readonly headers: Headers;
}

/** What a caller may set for each request. */
export interface RequestOptions {
  /** Ends the request and its retries. */
  readonly signal?: AbortSignal | undefined;
  /** How long the server may be silent, in milliseconds. Default: as for the client. */
  readonly timeoutMs?: number | undefined;
  /** How often the request is repeated at most. Default: as for the client. */
  readonly retries?: number | undefined;
  /** Called with each response to this request, before its body is read. */
  readonly onResponse?: ((response: ReceivedResponse) => void) | undefined;
  /** For changes. Default: a new UUID. Give your own to repeat a request after a restart. */
  readonly idempotencyKey?: string | undefined;
}

/** Of a request that changes nothing. */
export type ReadOptions = Omit<RequestOptions, 'idempotencyKey'>;

/** What an argument must be, and whether an option must be given. */
type Check = readonly [
  isValid: (value: unknown) => boolean, expected: string, required?: 'required',
];

/** Arguments, and what each must be. */
export type Arguments = readonly (readonly [value: unknown, check: Check])[];

/** The options of a method, and what each must be. */
export type OptionTable<Options> = { readonly [Name in keyof Options]-?: Check };

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed();
const isScalar = (value: unknown): boolean =>
  isText(value) || typeof value === 'boolean' || Number.isFinite(value)
  || (value instanceof Date && !Number.isNaN(value.getTime()));

export const TEXT: Check = [isText, 'a string'];
/** Not a `Map`, whose entries are no members. */
export const OBJECT: Check = [
  (value) => Object.prototype.toString.call(value) === '[object Object]', 'a plain object',
];
export const LIST: Check = [Array.isArray, 'an array'];
export const FUNCTION: Check = [(value) => typeof value === 'function', 'a function'];
export const INTEGER: Check = [Number.isSafeInteger, 'a whole number'];
export const VERSION: Check = [
  (value) => isText(value) || INTEGER[0](value), 'a position or an ETag',
];
export const POSITION: Check = [VERSION[0], 'a position', 'required'];
export const TARGET: Check = [
  (value) => isText(value) || (isObject(value) && 'sku' in value && isText(value.sku)),
  'an id or { sku }',
];
export const SOURCE: Check = [
  (value) => typeof value === 'string' || value instanceof Blob
    || (isObject(value) && (Symbol.iterator in value || Symbol.asyncIterator in value)),
  'text, bytes, a stream, or an iterable of them or of objects',
];
export const BOOLEAN: Check = [(value) => typeof value === 'boolean', 'true or false'];
export const COUNT: Check = [
  (value) => (Number.isSafeInteger(value) && Number(value) >= 0) || value === Infinity,
  'a whole number from 0, or Infinity',
];
/** With a longer delay, timers end at once (WHATWG HTML section 8.6). */
const DELAY_LIMIT_MS = 2 ** 31 - 1;
export const DELAY: Check = [
  (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= DELAY_LIMIT_MS,
  `whole milliseconds from 1 to ${DELAY_LIMIT_MS}`,
];
/** Names and values, or the text of a parameter. */
export const PAIRS: Check = [
  (value) => isText(value) || (OBJECT[0](value) && Object.values(Object(value)).every(isScalar)),
  'an object of names and values',
];
/** Each pair travels, as a parameter of its own: `metadata.NAME`. */
export const METADATA: Check = [
  (value) => OBJECT[0](value) && Object.keys(Object(value)).length > 0
    && Object.values(Object(value)).every(isText),
  'an object of at least one name and string',
];
/** An option that travels, and that the server validates. */
export const SENT: Check = [
  (value) => isScalar(value) || (Array.isArray(value) && value.every(isText)),
  'a string, a number, true, false, a valid Date or an array of strings',
];

export function oneOf(...values: readonly string[]): Check {
  return [(value) => values.some((choice) => choice === value), values.join(' or ')];
}

export function required([isValid, expected]: Check): Check {
  return [isValid, expected, 'required'];
}

export const READ_OPTIONS: OptionTable<ReadOptions> = {
  signal: [(value) => isObject(value) && 'aborted' in value, 'an AbortSignal'],
  timeoutMs: DELAY, retries: COUNT, onResponse: FUNCTION,
};

export const REQUEST_OPTIONS: OptionTable<RequestOptions> = {
  ...READ_OPTIONS, idempotencyKey: TEXT,
};

/**
 * Checks a call of a method.
 * @returns what the caller set for the request; and the options that travel, by their names there
 * @throws InvalidDataError with all issues; nothing was sent
 */
export function readCall<Options extends object>(
  method: string, args: Arguments, options: Options, table: OptionTable<Options>,
): readonly [request: RequestOptions, sent: Readonly<Record<string, unknown>>] {
  const issues = args.flatMap(([value, [isValid, expected]], index): Issue[] =>
    (isValid(value) ? [] : [issue(`argument ${index + 1}`, `Must be ${expected}.`)]));
  issues.push(...findIssues(options, table));
  if (issues.length > 0) throw invalidArguments(method, issues);
  // As they were checked: also inherited ones, and those of a class with getters.
  const entries = Object.entries<Check>(table).flatMap(([name, check]) => {
    const value: unknown = Reflect.get(options, name);
    return value === undefined ? [] : [{ name, check, value }];
  });
  return [
    Object.fromEntries(entries.filter(({ name }) => Object.hasOwn(REQUEST_OPTIONS, name))
      .map(({ name, value }) => [name, value])),
    Object.fromEntries(entries.flatMap(({ name, check, value }) => {
      if (check === SENT) return [[toWireName(name), value]];
      return check !== METADATA ? [] : Object.entries(Object(value)).map(([key, text]) =>
        [`${name}.${key}`, text]);
    })),
  ];
}

/** Everything that is wrong with options. */
export function findIssues<Options extends object>(
  options: Options, table: OptionTable<Options>,
): readonly Issue[] {
  if (!OBJECT[0](options)) return [issue('options', 'Must be an object.')];
  const names = Object.keys(table);
  const unknown = Object.keys(options).filter((name) => !names.includes(name)).map((name) => {
    const similar = names.find((known) => fold(known) === fold(name));
    const remedy = similar === undefined ? `The options are: ${names.join(', ')}.`
      : `Write ${similar}.`;
    return issue(name, `Is not an option of this method. ${remedy}`, 'unknown');
  });
  const wrong = Object.entries<Check>(table).flatMap(([name, [isValid, expected, required]]) => {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined ? !required : isValid(value)) return [];
    return [issue(name, `Must be ${expected}.`, value === undefined ? 'required' : 'type')];
  });
  return [...unknown, ...wrong];
}

/** The error of a call that sent nothing. @param subject The method, or its request. */
export function invalidArguments(subject: string, issues: readonly Issue[]): ApiError {
  return createApiError({
    type: 'urn:problem-type:seller-product-api:invalid-data', title: 'Invalid arguments',
    detail: `${subject} sent nothing.`, status: 400, errors: issues,
  }, { issues });
}

function issue(parameter: string, detail: string, code: Issue['code'] = 'type'): Issue {
  return { parameter, code, detail };
}

function fold(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase();
}

function toWireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
