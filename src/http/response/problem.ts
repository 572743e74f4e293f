/**
 * Errors as problem details (RFC 9457): the only place that maps `AppError` codes to HTTP status.
 * Any other error is a bug of ours: the client gets an id, the log gets the cause.
 */
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { AppError, type ConflictCode, CONFLICTS, type ErrorCode } from '../../domain/error.ts';
import type { Reply } from './reply.ts';

type StatusAndTitle = readonly [status: number, title: string];

/** The codes that are not a conflict with the catalogue. */
const PROBLEMS: Readonly<Record<Exclude<ErrorCode, ConflictCode>, StatusAndTitle>> = {
  bad_request: [400, 'The request is malformed or ambiguous'],
  invalid_json: [400, 'The body is not valid JSON'],
  invalid_data: [400, 'The submitted data is invalid'],
  invalid_query: [400, 'The query is invalid'],
  key_missing: [401, 'No API key was sent'],
  key_malformed: [401, 'This is not an API key'],
  key_unknown: [401, 'The API key is not valid'],
  key_expired: [401, 'The API key has expired'],
  address_refused: [401, 'The API key may not be used from this address'],
  browser_refused: [403, 'API keys are not for browsers'],
  scope_missing: [403, 'The API key lacks a scope'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Method not allowed'],
  not_acceptable: [406, 'No response of an accepted type'],
  request_timeout: [408, 'The request arrived too slowly'],
  history_pruned: [410, 'The history does not go back that far'],
  precondition_failed: [412, 'The precondition failed'],
  body_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The media type is not supported'],
  expectation_failed: [417, 'The expectation cannot be met'],
  idempotency_mismatch: [422, 'The Idempotency-Key was used for another request'],
  write_rejected: [422, 'The write was rejected'],
  rate_limited: [429, 'Too many requests'],
  internal: [500, 'Internal server error'],
  unavailable: [503, 'Temporarily unavailable'],
  storage_full: [507, 'The server\'s disk is full'],
};

export const PROBLEM_TYPE = 'application/problem+json';

/** These close the connection: what follows on it cannot be trusted, or does not arrive. */
const CLOSES_CONNECTION: ReadonlySet<ErrorCode> = new Set([
  'bad_request', 'request_timeout', 'expectation_failed',
]);

const RETRY_AFTER_SECONDS = 5;

/** An error that no client caused, for the log. */
export interface ErrorReport {
  /** The end of `instance` in the client's problem; or what failed, such as `subscription`. */
  readonly id: string;
  /** What was thrown. */
  readonly error: unknown;
}

export type ErrorReporter = (entry: ErrorReport) => void;

/** The response to an error. Passes errors that the client did not cause to `report`. */
export function createProblem(error: unknown, report: ErrorReporter): Reply {
  const { members } = toAppError(error);
  const reply = replyWith(describeProblem(error, report), problemFields(error));
  // There may be thousands of members, already serialised.
  return members === undefined ? reply
    : { ...reply, body: `${reply.body.slice(0, -1)},${members}}` };
}

/** The header fields of an error, whatever the format of its body. */
export function problemFields(error: unknown): Reply['headers'] {
  const { code, allow, retryAfterSeconds } = toAppError(error);
  const [status] = findStatusAndTitle(code);
  const isTemporary = status === 503 || status === 507;
  const retryAfter = retryAfterSeconds ?? (isTemporary ? RETRY_AFTER_SECONDS : undefined);
  return {
    // RFC 9110 section 11.6.1 asks for a challenge with every 401.
    ...(status === 401 && { 'www-authenticate': `ApiKey realm="x-api-key", error="${code}"` }),
    ...(allow && { allow: allow.join(', ') }),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(CLOSES_CONNECTION.has(code) && { connection: 'close' }),
  };
}

/** The problem details of an error, without the error's additional members; `report` as above. */
export function describeProblem(error: unknown, report: ErrorReporter) {
  const { code, publicDetail: detail, issues, cause } = toAppError(error);
  const [status, title] = findStatusAndTitle(code);
  // A 5xx without a cause is a limit that was reached: not an error to log.
  const isLogged = code === 'internal' || (status >= 500 && cause !== undefined);
  const id = isLogged ? randomUUID() : undefined;
  if (id) report({ id, error });
  return {
    type: formatProblemType(code.replaceAll('_', '-')),
    title,
    status,
    detail,
    ...(id && { instance: `urn:uuid:${id}` }),
    ...(issues.length > 0 && { errors: issues }),
  };
}

function findStatusAndTitle(code: ErrorCode): StatusAndTitle {
  return isConflict(code) ? [409, CONFLICTS[code]] : PROBLEMS[code];
}

function isConflict(code: ErrorCode): code is ConflictCode {
  return Object.hasOwn(CONFLICTS, code);
}

/** The error code that the client sees. */
export function findCode(error: unknown): ErrorCode {
  return error instanceof AppError ? error.code : 'internal';
}

function toAppError(error: unknown): AppError {
  if (error instanceof AppError && error.code !== 'internal') return error;
  return new AppError(
    'internal', 'The error is in the server log. Give this id to the operator of the server.',
  );
}

/** A problem response without an `AppError`, for rejections outside the API. */
export function replyWithProblem(
  status: number, name: string, title: string, detail: string, fields: Reply['headers'] = {},
) {
  return replyWith({ type: formatProblemType(name), title, status, detail }, fields);
}

function replyWith(
  problem: Omit<ReturnType<typeof describeProblem>, 'instance'>, fields: Reply['headers'],
) {
  return {
    status: problem.status,
    headers: { 'content-type': PROBLEM_TYPE, 'cache-control': 'no-store', ...fields },
    body: JSON.stringify(problem),
  };
}

export function formatProblemType(name: string): string {
  return `urn:problem-type:seller-product-api:${name}`;
}

/**
 * Reports errors to the embedder's `report`, or else to stderr. If `report` throws, that error is
 * logged to stderr and the process continues.
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
  console.error(JSON.stringify({ ...line, error: describeError(error) }));
}

/**
 * The text of an error in the log. What fails while a disk is full or a database is away is no bug:
 * its causes need no stack.
 */
export function describeError(error: unknown): string {
  if (findCode(error) === 'internal') return inspect(error);
  const messages: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message !== messages.at(-1)) messages.push(cause.message);
  }
  return messages.join(' Cause: ');
}
