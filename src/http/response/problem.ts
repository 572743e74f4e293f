/**
 * Errors as problem details (RFC 9457). This is the one place that maps the codes of `AppError` to
 * HTTP; every conflict with the catalogue is a 409. An error that is not an AppError is a bug of
 * ours: the client gets an id, the log gets the cause.
 */
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { AppError, type ConflictCode, CONFLICTS, type ErrorCode } from '../../domain/error.ts';
import type { Reply } from './reply.ts';

type HttpCode = Exclude<ErrorCode, ConflictCode>;

const CONFLICT_STATUS = 409;
const STATUS: Readonly<Record<HttpCode, number>> = {
  bad_request: 400,
  invalid_json: 400,
  invalid_data: 400,
  invalid_query: 400,
  key_missing: 401,
  key_malformed: 401,
  key_unknown: 401,
  key_expired: 401,
  address_refused: 401,
  browser_refused: 403,
  scope_missing: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  history_pruned: 410,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  storage_full: 507,
};

const TITLE: Readonly<Record<HttpCode, string>> = {
  bad_request: 'The request could be misunderstood',
  invalid_json: 'The body is not valid JSON',
  invalid_data: 'The submitted data is invalid',
  invalid_query: 'The query is invalid',
  key_missing: 'No API key was sent',
  key_malformed: 'This is not an API key',
  key_unknown: 'The API key is not valid',
  key_expired: 'The API key has expired',
  address_refused: 'The API key may not be used from this address',
  browser_refused: 'API keys are not for browsers',
  scope_missing: 'The API key may not do this',
  not_found: 'Not found',
  method_not_allowed: 'Method not allowed',
  not_acceptable: 'No answer of an accepted type',
  request_timeout: 'The request arrived too slowly',
  history_pruned: 'The history does not reach back so far',
  precondition_failed: 'The precondition does not hold',
  body_too_large: 'The body is too large',
  unsupported_media_type: 'The media type is not supported',
  expectation_failed: 'The expectation cannot be met',
  idempotency_mismatch: 'The Idempotency-Key was used for something else',
  rate_limited: 'Too many requests',
  internal: 'Something went wrong in this server',
  unavailable: 'This server cannot do this now',
  storage_full: 'The disk of this server is full',
};

export const PROBLEM_TYPE = 'application/problem+json';

/** After these the connection closes: what follows cannot be trusted, or does not arrive. */
const CLOSES_CONNECTION: ReadonlySet<ErrorCode> = new Set([
  'bad_request', 'request_timeout', 'expectation_failed',
]);

const RETRY_AFTER_SECONDS = 5;

/** An internal error for the log, under the id that the client was given. */
export interface ErrorReport {
  readonly id: string;
  readonly error: unknown;
}

export type ErrorReporter = (entry: ErrorReport) => void;

/** The response to an error; errors that are not the client's are passed to `report`. */
export function createProblem(error: unknown, report: ErrorReporter): Reply {
  const { code, allow, retryAfterSeconds, members } = toAppError(error);
  const { status } = describeCode(code);
  const body = JSON.stringify(describeProblem(error, report));
  return {
    status,
    headers: {
      'content-type': PROBLEM_TYPE,
      'cache-control': 'no-store',
      ...challenge(code, status),
      ...(allow && { allow: allow.join(', ') }),
      ...retryAfter(retryAfterSeconds, status),
      ...(CLOSES_CONNECTION.has(code) && { connection: 'close' }),
    },
    // There may be thousands of members, already serialised.
    body: members === undefined ? body : `${body.slice(0, -1)},${members}}`,
  };
}

/** The problem document of an error, without the error's own members; `report` as above. */
export function describeProblem(error: unknown, report: ErrorReporter) {
  const { code, publicDetail, issues } = toAppError(error);
  const { status, title } = describeCode(code);
  // A 5xx without a cause is a limit at work: nothing for the log.
  const isLogged = status >= 500
    && (code === 'internal' || (error as AppError).cause !== undefined);
  const id = isLogged ? randomUUID() : undefined;
  if (id) report({ id, error });
  return {
    type: formatProblemType(code.replaceAll('_', '-')),
    title,
    status,
    detail: publicDetail,
    ...(id && { instance: `urn:uuid:${id}` }),
    ...(issues.length > 0 && { errors: issues }),
  };
}

function describeCode(code: ErrorCode): { readonly status: number; readonly title: string } {
  return isConflict(code) ? { status: CONFLICT_STATUS, title: CONFLICTS[code] }
    : { status: STATUS[code], title: TITLE[code] };
}

function isConflict(code: ErrorCode): code is ConflictCode {
  return Object.hasOwn(CONFLICTS, code);
}

/** The code that a client sees for an error. */
export function findCode(error: unknown): ErrorCode {
  return error instanceof AppError ? error.code : 'internal';
}

function toAppError(error: unknown): AppError {
  if (error instanceof AppError && error.code !== 'internal') return error;
  return new AppError(
    'internal', 'The error is in the server log. Give this id to the operator of the server.',
  );
}

interface PlainProblem {
  /** As in its `type`: words with hyphens between. */
  readonly name: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

/** The response to a request that is rejected outside the API, for which no `AppError` exists. */
export function replyWithProblem(
  { name, title, status, detail }: PlainProblem, fields: Reply['headers'] = {},
): Reply {
  return {
    status,
    headers: { 'content-type': PROBLEM_TYPE, 'cache-control': 'no-store', ...fields },
    body: JSON.stringify({ type: formatProblemType(name), title, status, detail }),
  };
}

/** The `type` of a problem of this name. */
export function formatProblemType(name: string): string {
  return `urn:problem-type:seller-product-api:${name}`;
}

/** RFC 9110 section 11.6.1 asks for a challenge with every 401. */
function challenge(code: ErrorCode, status: number): Record<string, string> {
  return status === 401 ? { 'www-authenticate': `ApiKey realm="x-api-key", error="${code}"` } : {};
}

function retryAfter(seconds: number | undefined, status: number): Record<string, string> {
  const isTemporary = status === 503 || status === 507;
  const wait = seconds ?? (isTemporary ? RETRY_AFTER_SECONDS : undefined);
  return wait === undefined ? {} : { 'retry-after': String(wait) };
}

/**
 * Reports errors to stderr, or to `report` if the embedder gave one. If that throws, its error is
 * logged to stderr, and the process goes on.
 */
export function safeErrorReporter(report: ErrorReporter | undefined): ErrorReporter {
  if (!report) return reportToStderr;
  return (entry) => {
    try {
      report(entry);
    } catch (error) {
      reportToStderr({ id: entry.id, error });
    }
  };
}

function reportToStderr({ id, error }: ErrorReport): void {
  const line = { time: new Date().toISOString(), level: 'error', event: 'error', id };
  console.error(JSON.stringify({ ...line, error: inspect(error) }));
}
