/**
 * Parsers return a value or an error instead of throwing, so that a response can list all errors of
 * a body.
 */
import { AppError, type Issue } from './error.ts';
import { ISSUES_PER_RESPONSE_LIMIT } from './limits.ts';
import { type ValidationError, validateText } from './text.ts';
import { formatCount } from './wording.ts';

export type ParseResult<Value> = { readonly value: Value } | { readonly error: ValidationError };

export function invalid(code: Issue['code'], detail: string): { readonly error: ValidationError } {
  return { error: { code, detail } };
}

/** A JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type Schema = Readonly<Record<string, unknown>>;

/** Parses a JSON value; its schema describes the accepted values. */
export interface Validator<Value> {
  readonly schema: Schema;
  /** The meaning of the value, for the OpenAPI document. */
  readonly description?: string;
  readonly parse: (value: unknown) => ParseResult<Value>;
}

/** Reads the members of one JSON object and collects their errors. */
export class ObjectReader {
  readonly #record: Record<string, unknown>;
  readonly #defaults: Readonly<Record<string, unknown>>;
  readonly #isPartial: boolean;
  readonly #issues: Issue[] = [];
  readonly #read: string[] = [];
  /** Counts all errors; `#issues` keeps only as many as a response lists. */
  #count = 0;

  /**
   * A missing member gets its value from `defaults`; in a partial object, it may stay missing.
   * @throws AppError `invalid_data` if `body` is not an object
   */
  constructor(body: unknown, defaults: Readonly<Record<string, unknown>> = {}, isPartial = false) {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new AppError('invalid_data', 'The body must be a JSON object.', {
        issues: [{ pointer: '', code: 'type', detail: 'Must be an object.' }],
      });
    }
    // The cast: any object can be read by name, and its values stay unknown.
    this.#record = body as Record<string, unknown>;
    this.#defaults = defaults;
    this.#isPartial = isPartial;
  }

  /** The parsed member; undefined, with an error added, if it is missing or invalid. */
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
    this.addError(member, parsed.error);
    return undefined;
  }

  /** Reads each member by its validator, as `read` does. */
  readAll<Members>(
    validators: { readonly [Member in keyof Members]: Validator<Members[Member]> },
  ): { readonly [Member in keyof Members]: Members[Member] | undefined } {
    const entries = Object.entries<Validator<unknown>>(validators);
    const members = entries.map(([member, { parse }]) => [member, this.read(member, parse)]);
    // The cast: each validator returns its member's type.
    return Object.fromEntries(members) as ReturnType<typeof this.readAll<Members>>;
  }

  /** Adds an error if a member is missing. */
  require(member: string): void {
    if (Object.hasOwn(this.#record, member)) return;
    this.addError(member, { code: 'required', detail: 'Is required.' });
  }

  addError(member: string, error: ValidationError): void {
    this.#count += 1;
    if (this.#issues.length >= ISSUES_PER_RESPONSE_LIMIT) return;
    this.#issues.push({ pointer: `/${escapePointer(member)}`, ...error });
  }

  /** As `findError`. @throws AppError `invalid_data` */
  assertValid(): void {
    const error = this.findError();
    if (error) throw error;
  }

  /**
   * The error that lists all issues; undefined if there are none. Members that were never read are
   * unknown, so call it after the last `read`.
   */
  findError(): AppError | undefined {
    const unknown = Object.keys(this.#record).filter((member) => !this.#read.includes(member));
    if (unknown.length > 0) {
      const detail = `Is not a member of this object. It has: ${this.#read.join(', ')}.`;
      for (const member of unknown) this.addError(member, { code: 'unknown', detail });
    }
    const count = this.#count;
    if (count === 0) return undefined;
    const issues = this.#issues;
    const suffix = count > issues.length ? `; the first ${issues.length} are listed` : '';
    const detail = `The request body has ${count === 1 ? '1 error' : `${count} errors`}${suffix}.`;
    return new AppError('invalid_data', detail, { issues });
  }
}

export const stringValidator: Validator<string> = {
  schema: { type: 'string' },
  parse: (value) =>
    (typeof value === 'string' ? { value } : invalid('type', 'Must be a string.')),
};

/** One line of text, kept exactly as sent. */
export function lineValidator(limitCodePoints: number): Validator<string> {
  return {
    schema: { type: 'string', minLength: 1, maxLength: limitCodePoints },
    parse(value) {
      const parsed = stringValidator.parse(value);
      const error = 'value' in parsed && validateText(parsed.value, limitCodePoints);
      return error ? { error } : parsed;
    },
  };
}

/** Accepts null, too: the same as leaving the member out. */
export function absentIfNull(validator: Validator<string>): Validator<string | undefined> {
  return {
    schema: { ...validator.schema, type: ['string', 'null'] },
    parse: (value) => (value === null ? { value: undefined } : validator.parse(value)),
  };
}

export function integerValidator(minimum: number, maximum: number): Validator<number> {
  return {
    schema: { type: 'integer', minimum, maximum },
    parse(value) {
      if (typeof value !== 'number') return invalid('type', 'Must be a number.');
      if (!Number.isInteger(value)) return invalid('precision', 'Must be a whole number.');
      if (value >= minimum && value <= maximum) return { value: value + 0 }; // -0 + 0 is 0
      const range = `${formatCount(minimum)} to ${formatCount(maximum)}`;
      return invalid('range', `Must be from ${range}.`);
    },
  };
}

/** Optional: false unless it is sent. */
export const booleanValidator: Validator<boolean> = {
  schema: { type: 'boolean', default: false },
  parse: (value) =>
    (typeof value === 'boolean' ? { value } : invalid('type', 'Must be true or false.')),
};

/** One reference token of a JSON Pointer (RFC 6901 section 3). */
export function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
