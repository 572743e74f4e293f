/**
 * The only error class: a closed set of codes, a detail that is safe to show, and the issues of
 * invalid data. It knows nothing about HTTP: `http/response/problem.ts` maps codes to status. Any
 * other exception is a bug of ours, and gets 500 with an id.
 */

/** Conflicts with the current state of the catalogue, each with its title. */
export const CONFLICTS: Readonly<Record<ConflictCode, string>> = {
  sku_taken: 'The SKU is already in use',
  limit_reached: 'A limit was reached',
  sync_refused: 'The stock sync was rejected',
  external_id_taken: 'The external id is already in use',
  seller_enabled: 'The seller is not disabled',
};

/** The codes of conflicts. */
export type ConflictCode =
  'sku_taken' | 'limit_reached' | 'sync_refused' | 'external_id_taken' | 'seller_enabled';

/** All error codes, in the order of their HTTP status. */
export type ErrorCode =
  | 'bad_request' | 'invalid_json' | 'invalid_data' | 'invalid_query'
  | 'key_missing' | 'key_malformed' | 'key_unknown' | 'key_expired' | 'address_refused'
  | 'browser_refused' | 'scope_missing'
  | 'not_found' | 'method_not_allowed' | 'not_acceptable' | 'request_timeout'
  | ConflictCode | 'history_pruned' | 'precondition_failed'
  | 'body_too_large' | 'unsupported_media_type' | 'expectation_failed' | 'idempotency_mismatch'
  | 'write_rejected'
  | 'rate_limited' | 'internal' | 'unavailable' | 'storage_full';

/** One error in the data sent: where it is, its kind, and what to do. */
export interface Issue {
  /** JSON Pointer (RFC 6901) to the invalid body member; absent for a query parameter. */
  readonly pointer?: string;
  /** Name of the invalid query parameter; absent for a body member. */
  readonly parameter?: string;
  /** The kind of the error. */
  readonly code: IssueCode;
  /** What is wrong, and what to do. */
  readonly detail: string;
}

/** Kinds of errors in data. */
type IssueCode =
  | 'required' | 'unknown' | 'duplicate' | 'type' | 'blank' | 'length' | 'range' | 'precision'
  | 'format' | 'characters' | 'mismatch' | 'taken' | 'target' | 'ambiguous'
  | 'rejected';

/** What an error has beside its code and its detail. */
interface AppErrorDetails {
  /** Default: none. */
  readonly issues?: readonly Issue[];
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number | undefined;
  /** The methods of the resource, for `method_not_allowed`. */
  readonly allow?: readonly string[];
  /** Additional members of the problem details: JSON without braces. */
  readonly members?: string;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/** Marks the errors of every copy of this module: hot reload loads it again. */
const MARK = Symbol.for('seller-product-api.AppError');

/** An error that is safe to show: `publicDetail` says what happened and what to do. */
export class AppError extends Error {
  /** What went wrong. */
  readonly code: ErrorCode;
  /** What happened and what to do: safe to show. */
  readonly publicDetail: string;
  /** Everything that is wrong with the data; may be empty. */
  readonly issues: readonly Issue[];
  /** Whole seconds after which the same request may succeed; undefined if unknown. */
  readonly retryAfterSeconds: number | undefined;
  /** The methods of the resource, for `method_not_allowed`. */
  readonly allow: readonly string[] | undefined;
  /** Additional members of the problem details: JSON without braces. */
  readonly members: string | undefined;

  /** @param publicDetail What happened and what to do: safe to show. */
  constructor(code: ErrorCode, publicDetail: string, details: AppErrorDetails = {}) {
    super(publicDetail, { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.publicDetail = publicDetail;
    this.issues = details.issues ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.allow = details.allow;
    this.members = details.members;
  }

  /** @internal */
  get [MARK](): true {
    return true;
  }

  /**
   * Recognizes the errors of a store that another copy of this module has opened.
   * @internal
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this === AppError) return typeof value === 'object' && value !== null && MARK in value;
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
}

/** The result; undefined if it is rejected with this error. */
export async function undefinedIf<Result>(
  code: ErrorCode, result: Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof AppError && error.code === code) return undefined;
    throw error;
  }
}
