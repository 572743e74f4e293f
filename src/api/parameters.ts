/**
 * Query parameters. A route's table parses its query, reporting all invalid parameters together,
 * and describes it in the OpenAPI document. Other parameters are rejected.
 */
import type { Caller } from '../domain/access/caller.ts';
import { oneOf } from '../domain/arguments.ts';
import { fileName } from '../domain/catalogue/import.ts';
import { findSku } from '../domain/catalogue/product.ts';
import { type Sku, skuValidator } from '../domain/catalogue/product-fields.ts';
import type { Issue } from '../domain/error.ts';
import { findRevision, revisionSchema, toPosition } from '../domain/revision.ts';
import { parseTime } from '../domain/time.ts';
import { invalid, type ParseResult, type Schema } from '../domain/validation.ts';
import { familyOf, invalidQuery, type Query } from '../http/request/query.ts';

/** The parts of the caller that a value's meaning may depend on. */
export type QueryCaller = Pick<Caller, 'sellerId' | 'currency' | 'generation'>;

/** Parses the text of a parameter, and describes what it accepts. */
interface Parser<Value> {
  readonly schema: Schema;
  readonly parse: (text: string) => ParseResult<Value>;
}

export interface Parameter<Value = unknown> {
  readonly schema: Schema;
  /** @param name of a parameter of a family: what follows the dot */
  readonly parse: (text: string, caller: QueryCaller, name: string) => ParseResult<Value>;
  readonly description: string;
  readonly example: unknown;
  /** The value if the parameter is not sent. */
  readonly default?: Value;
}

export type ParameterTable = Readonly<Record<string, Parameter>>;

/** What a table parses: a parameter without a default may be undefined. */
export type Values<Table extends ParameterTable> = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly default: unknown }
    ? ValueOf<Table[Name]> : ValueOf<Table[Name]> | undefined;
};
type ValueOf<One> = One extends Parameter<infer Value> ? Value : never;

/**
 * The value of a family, such as `metadata.*`, has the members of all values.
 * @throws AppError `invalid_query` listing every invalid parameter, in the order sent
 */
export function parseParameters<Table extends ParameterTable>(
  table: Table, query: Query, caller: QueryCaller,
): Values<Table> {
  const issues: Issue[] = [];
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(table)) values[name] = table[name]?.default;
  for (const [parameter, text] of query) {
    const family = familyOf(parameter);
    const isMember = family !== parameter;
    const parsed = table[family]?.parse(text, caller, parameter.slice(family.length - 1));
    if (parsed && 'error' in parsed) issues.push({ parameter, ...parsed.error });
    else if (isMember) values[family] = { ...values[family] ?? {}, ...parsed?.value ?? {} };
    else values[parameter] = parsed?.value;
  }
  if (issues.length > 0) throw invalidQuery(issues);
  return values as Values<Table>; // each parser returns its parameter's type
}

export function withDefault<Value>(
  { schema, parse }: Pick<Parameter<Value>, 'schema' | 'parse'>, value: NoInfer<Value>,
) {
  return { schema: { ...schema, default: value }, parse, default: value };
}

export function integer(minimum: number, maximum: number): Parser<number> {
  return {
    schema: { type: 'integer', minimum, maximum },
    parse(text) {
      const value = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : NaN;
      if (value >= minimum && value <= maximum) return { value };
      return invalid('range', `Must be a whole number from ${minimum} to ${maximum}.`);
    },
  };
}

export function choice<const Choice extends string>(choices: readonly Choice[]): Parser<Choice> {
  return { schema: { type: 'string', enum: choices }, parse: oneOf(choices) };
}

/** A comma-separated list; the value is in the order of `choices`, without duplicates. */
export function choiceList<Choice extends string>(
  choices: readonly Choice[],
): Parser<readonly Choice[]> {
  return {
    schema: { type: 'array', minItems: 1, items: { type: 'string', enum: choices } },
    parse(text) {
      const names: readonly string[] = text.split(',');
      const value = choices.filter((choice) => names.includes(choice));
      if (names.every((name) => value.some((choice) => choice === name))) return { value };
      return invalid('format', `Must be a comma-separated list of: ${choices.join(', ')}.`);
    },
  };
}

export const text: Parser<string> = {
  schema: { type: 'string', minLength: 1 }, parse: (value) => ({ value }),
};

/** False unless it is sent. */
export const boolean: Parser<boolean> & { readonly default: boolean } = {
  schema: { type: 'boolean', default: false },
  parse(value) {
    if (value === 'true' || value === 'false') return { value: value === 'true' };
    return invalid('format', 'Must be one of: false, true.');
  },
  default: false,
};

export const dryRun = {
  ...boolean,
  description: 'Return the outcome without changing anything.', example: true,
};

export const fileNameParameter = {
  ...fileName, example: 'stock-2026-11-20.csv',
  description: 'The name of the file, for the record of the import.',
};

/** Parses a revision to its position. */
export const position = {
  schema: revisionSchema,
  /** @throws AppError `history_pruned` for another generation */
  parse(text: string, { generation }: Pick<Caller, 'generation'>): ParseResult<number> {
    const revision = findRevision(text);
    if (revision !== undefined) return { value: toPosition(revision, generation) };
    return invalid('range', `Must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`);
  },
};

export const sku: Parser<Sku> = {
  schema: skuValidator.schema,
  parse(value) {
    const sku = findSku(value);
    return sku === undefined ? invalid('format', 'Is not a valid SKU.') : { value: sku };
  },
};

/** Parses to milliseconds since 1970. */
export const instant: Parser<number> = {
  schema: { type: 'string', format: 'date-time' },
  parse(value) {
    const at = parseTime(value);
    if (at !== undefined) return { value: at };
    const hasSpace = parseTime(value.replace(/ (?=\d\d:\d\d$)/, '+')) !== undefined;
    return invalid('format', hasSpace ? 'Has a space instead of a +. In a query, send + as %2B.'
      : 'Must be an RFC 3339 time, such as 2026-01-31T12:00:00Z.');
  },
};

/** A catalogue position, or a time in milliseconds since 1970. */
export type Moment = { readonly position: number } | { readonly at: number };

export const moment = {
  schema: { anyOf: [position.schema, instant.schema] },
  parse(value: string, caller: Pick<Caller, 'generation'>): ParseResult<Moment> {
    const isPosition = /^(?:\w{5}-)?\d+$/.test(value);
    const parsed = isPosition ? position.parse(value, caller) : instant.parse(value);
    if ('value' in parsed) {
      return { value: isPosition ? { position: parsed.value } : { at: parsed.value } };
    }
    if (isPosition || / \d\d:\d\d$/.test(value)) return parsed;
    return invalid(
      'format', 'Must be a position, or an RFC 3339 time such as 2026-01-31T12:00:00Z.',
    );
  },
};
