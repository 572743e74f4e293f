/**
 * Reads the parameters of a query, each with a parser, and reports all invalid ones at once; the
 * paging parameters of lists, and the link to the next page (RFC 8288).
 */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from './limits.ts';
import type { Issue } from '../domain/error.ts';
import type { ParseResult } from '../domain/validation.ts';
import { findSku } from '../domain/catalogue/product.ts';
import type { Sku } from '../domain/catalogue/product-fields.ts';
import { validateText } from '../domain/text.ts';
import { parseTime } from '../domain/time.ts';
import { invalidQuery, type Query } from '../http/request/query.ts';

export class QueryReader {
  readonly #query: Query;
  readonly #issues: Issue[] = [];

  constructor(query: Query) {
    this.#query = query;
  }

  /** Undefined if the parameter is missing or invalid. */
  read<Value>(parameter: string, parse: (text: string) => ParseResult<Value>): Value | undefined {
    const text = this.#query.get(parameter);
    if (text === undefined) return undefined;
    const parsed = parse(text);
    if ('value' in parsed) return parsed.value;
    this.#issues.push({ parameter, ...parsed.error });
    return undefined;
  }

  readInteger(parameter: string, minimum: number, maximum: number): number | undefined {
    return this.read(parameter, (text) => parseInteger(text, minimum, maximum));
  }

  /** One of these; the first one by default. */
  readChoice<Choice extends string>(
    parameter: string, choices: readonly [Choice, ...Choice[]],
  ): Choice {
    return this.read(parameter, (text) => parseChoice(text, choices)) ?? choices[0];
  }

  /** Call it last. @throws AppError `invalid_query` listing every invalid parameter */
  assertValid(): void {
    if (this.#issues.length > 0) throw invalidQuery(this.#issues);
  }
}

function parseInteger(text: string, minimum: number, maximum: number): ParseResult<number> {
  const value = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : NaN;
  if (value >= minimum && value <= maximum) return { value };
  const detail = `Must be a whole number from ${minimum} to ${maximum}.`;
  return { error: { code: 'range', detail } };
}

/** The page size of a list without other parameters. @throws AppError `invalid_query` */
export function readLimit(query: Query): number {
  const reader = new QueryReader(query);
  const limit = reader.readInteger('limit', 1, PAGE_SIZE_LIMIT) ?? PAGE_SIZE_DEFAULT;
  reader.assertValid();
  return limit;
}

/** A catalogue position. */
export function parsePosition(text: string): ParseResult<number> {
  return parseInteger(text, 0, Number.MAX_SAFE_INTEGER);
}

export function parseChoice<Choice extends string>(
  text: string, choices: readonly Choice[],
): ParseResult<Choice> {
  const value = choices.find((choice) => choice === text);
  if (value !== undefined) return { value };
  return { error: { code: 'format', detail: `Must be one of: ${choices.join(', ')}.` } };
}

/** A comma-separated list; the result is in the order of `choices`, without duplicates. */
export function parseChoices<Choice extends string>(
  text: string, choices: readonly Choice[],
): ParseResult<readonly Choice[]> {
  const names = text.split(',');
  if (names.every((name) => choices.some((choice) => choice === name))) {
    return { value: choices.filter((choice) => names.includes(choice)) };
  }
  const detail = `Must be a comma-separated list of: ${choices.join(', ')}.`;
  return { error: { code: 'format', detail } };
}

export function parseText(text: string, limitCodePoints: number): ParseResult<string> {
  const error = validateText(text, limitCodePoints);
  return error ? { error } : { value: text };
}

export function parseSku(text: string): ParseResult<Sku> {
  const value = findSku(text);
  if (value !== undefined) return { value };
  return { error: { code: 'format', detail: 'Is not a valid SKU.' } };
}

/** Milliseconds since 1970. */
export function parseInstant(text: string): ParseResult<number> {
  const value = parseTime(text);
  if (value !== undefined) return { value };
  const detail = 'Must be an RFC 3339 time, such as 2026-01-31T12:00:00Z.';
  return { error: { code: 'format', detail } };
}

/** The `Link` to the next page; nothing if there is none. */
export function formatNextLink(
  path: string, query: Query, limit: number, cursor: string | undefined,
): { readonly link?: string } {
  if (cursor === undefined) return {};
  const next = new URLSearchParams([...query]);
  next.set('limit', String(limit));
  next.set('cursor', cursor);
  return { link: `<${path}?${next}>; rel="next"` };
}

/** @throws AppError `invalid_query` if an export, which has no pages, has paging parameters */
export function rejectPagingParameters(query: Query): void {
  const unused = ['limit', 'cursor'].filter((parameter) => query.has(parameter));
  if (unused.length === 0) return;
  const detail = 'Does not apply to an export, which has no pages.';
  throw invalidQuery(unused.map((parameter) => ({ parameter, code: 'mismatch', detail })));
}
