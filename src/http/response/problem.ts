/**
 * Errors as RFC 9457 problem details. The one place that maps the codes of `AppError` to HTTP; a
 * conflict with the catalogue is a 409, whatever its code. An error that is not an AppError is a
 * bug of ours: its client gets an id, the log gets the cause.
 */
import { randomUUID } from 'node:crypto';
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

/** What follows on the connection is not waited for, or not trusted. */
const LAST: ReadonlySet<ErrorCode> = new Set([
  'bad_request', 'request_timeout', 'expectation_failed',
]);

/** When a server that cannot write now is worth asking again. */
const RETRY_AFTER_SECONDS = 5;

/** One line of the log: what went wrong inside, findable by the id that the client was given. */
export interface ErrorReport {
  readonly id: string;
  readonly error: unknown;
}

/** The answer to an error; `report` is told of those that are not the client's doing. */
export function createProblem(error: unknown, report: (entry: ErrorReport) => void): Reply {
  const { code, allow, retryAfterSeconds, members } = toRefusal(error);
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
      ...(LAST.has(code) && { connection: 'close' }),
    },
    // They may be thousands, and are as they are to be sent.
    body: members === undefined ? body : `${body.slice(0, -1)},${members}}`,
  };
}

/** The problem document of an error, but for members of its own; `report` as above. */
export function describeProblem(error: unknown, report: (entry: ErrorReport) => void) {
  const { code, publicDetail, issues } = toRefusal(error);
  const { status, title } = describeCode(code);
  // Without a cause it is a limit that does its work: nothing for the log.
  const isFault = status >= 500 && (code === 'internal' || (error as AppError).cause !== undefined);
  const id = isFault ? randomUUID() : undefined;
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

/** The code under which an error is told. */
export function findCode(error: unknown): ErrorCode {
  return error instanceof AppError ? error.code : 'internal';
}

function toRefusal(error: unknown): AppError {
  if (error instanceof AppError && error.code !== 'internal') return error;
  const bug = 'It was written to the log of the server. Give this id to whoever runs it.';
  return new AppError('internal', bug);
}

interface PlainProblem {
  /** As in its `type`: words with hyphens between. */
  readonly name: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

/** The answer to what is refused outside of the API, where no `AppError` has a code for it. */
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
  const isPassing = status === 503 || status === 507;
  const wait = seconds ?? (isPassing ? RETRY_AFTER_SECONDS : undefined);
  return wait === undefined ? {} : { 'retry-after': String(wait) };
}
