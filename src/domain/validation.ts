/** How parsers of members report: a value or a fault, so that all faults of a body come at once. */
import { AppError, type Issue } from './error.ts';
import { ISSUES_PER_RESPONSE_LIMIT } from './limits.ts';
import { type ValidationError, validateText } from './text.ts';

export type ParseResult<Value> = { readonly value: Value } | { readonly error: ValidationError };

/** A JSON Schema (2020-12), as OpenAPI 3.1 takes it. */
export type Schema = Readonly<Record<string, unknown>>;

/** Parses a JSON value, and describes what it accepts. */
export interface Validator<Value> {
  readonly schema: Schema;
  readonly parse: (value: unknown) => ParseResult<Value>;
}

/** Reads the members of one JSON object and gathers what is wrong with them. */
export class ObjectReader {
  readonly #record: Record<string, unknown>;
  readonly #defaults: Readonly<Record<string, unknown>>;
  readonly #isPartial: boolean;
  readonly #issues: Issue[] = [];
  readonly #read: string[] = [];
  /** Of all faults; only as many are kept as an answer lists. */
  #count = 0;

  /**
   * A member that is missing has its value of `defaults`, or is left out of a partial object.
   * @throws AppError `invalid_data` where `body` is not an object.
   */
  constructor(
    body: unknown, defaults: Readonly<Record<string, unknown>> = {}, isPartial = false,
  ) {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new AppError('invalid_data', 'The body must be a JSON object.', {
        issues: [{ pointer: '', code: 'type', detail: 'Must be an object.' }],
      });
    }
    // Any object can be read by name: what it holds stays unknown.
    this.#record = body as Record<string, unknown>;
    this.#defaults = defaults;
    this.#isPartial = isPartial;
  }

  /** The parsed member, or undefined after noting that it is missing or faulty. */
  read<Value>(
    member: string, parse: (value: unknown) => ParseResult<Value>, isRequired = true,
  ): Value | undefined {
    this.#read.push(member);
    const isSent = Object.hasOwn(this.#record, member);
    if (!isSent && !Object.hasOwn(this.#defaults, member)) {
      if (isRequired && !this.#isPartial) this.require(member);
      return undefined;
    }
    const parsed = parse(isSent ? this.#record[member] : this.#defaults[member]);
    if ('value' in parsed) return parsed.value;
    this.note(member, parsed.error);
    return undefined;
  }

  /** Notes where a member is missing. */
  require(member: string): void {
    if (Object.hasOwn(this.#record, member)) return;
    this.note(member, { code: 'required', detail: 'Is required.' });
  }

  /** Notes what is wrong with a member. */
  note(member: string, error: ValidationError): void {
    this.#count += 1;
    if (this.#issues.length >= ISSUES_PER_RESPONSE_LIMIT) return;
    this.#issues.push({ pointer: `/${escapePointer(member)}`, ...error });
  }

  /** Call it after the last `read`. @throws AppError `invalid_data` naming every fault */
  assertValid(): void {
    const error = this.findError();
    if (error) throw error;
  }

  /**
   * The error that names every fault, members that nobody read among them; undefined if there is
   * none. Call it after the last `read`.
   */
  findError(): AppError | undefined {
    const unknown = Object.keys(this.#record).filter((member) => !this.#read.includes(member));
    if (unknown.length > 0) {
      const detail = `Is not a member of this object. It has: ${this.#read.join(', ')}.`;
      for (const member of unknown) this.note(member, { code: 'unknown', detail });
    }
    const count = this.#count;
    if (count === 0) return undefined;
    const issues = this.#issues;
    const shown = count > issues.length ? `; the first ${issues.length} are listed` : '';
    const detail = `The data has ${count === 1 ? '1 fault' : `${count} faults`}${shown}.`;
    return new AppError('invalid_data', `${detail} Correct it and send it again.`, { issues });
  }
}

/** A text of one line, kept exactly as sent. */
export function lineValidator(limitCodePoints: number): Validator<string> {
  return {
    schema: { type: 'string', minLength: 1, maxLength: limitCodePoints },
    parse: (value) => parseLine(value, limitCodePoints),
  };
}

export function integerValidator(minimum: number, maximum: number): Validator<number> {
  return {
    schema: { type: 'integer', minimum, maximum },
    parse: (value) => parseInteger(value, minimum, maximum),
  };
}

/** A text of one line, kept exactly as sent. */
export function parseLine(value: unknown, limitCodePoints: number): ParseResult<string> {
  if (typeof value !== 'string') return { error: { code: 'type', detail: 'Must be a string.' } };
  const error = validateText(value, limitCodePoints);
  return error ? { error } : { value };
}

/** Made once: `toLocaleString` makes one for each number, and a body may have 40,000 faults. */
const NUMBERS = new Intl.NumberFormat('en');

export function parseInteger(value: unknown, least: number, most: number): ParseResult<number> {
  if (typeof value !== 'number') return { error: { code: 'type', detail: 'Must be a number.' } };
  if (!Number.isInteger(value)) {
    return { error: { code: 'precision', detail: 'Must be a whole number.' } };
  }
  if (value >= least && value <= most) return { value: value + 0 }; // -0 + 0 is 0
  const range = [least, most].map((bound) => NUMBERS.format(bound));
  return { error: { code: 'range', detail: `Must be from ${range.join(' to ')}.` } };
}

export function parseBoolean(value: unknown): ParseResult<boolean> {
  if (typeof value === 'boolean') return { value };
  return { error: { code: 'type', detail: 'Must be true or false.' } };
}

/** One reference token of a JSON Pointer (RFC 6901 section 3). */
export function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
