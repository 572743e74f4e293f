/**
 * Turns the client's errors into one-line command failures, and retries temporary ones. The server
 * is not trusted: members are checked, and control characters are replaced.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { ApiError, ConnectionError, type Problem } from '../../client/index.ts';
import { UNEXPECTED_RESPONSE } from '../../client/errors.ts';
import { BLOCKED_PORT } from '../../client/response.ts';
import { findRetryDelay } from '../../client/transport.ts';
import { type Backoff, retryDelayMs } from '../../runtime/backoff.ts';
import { CommandFailure, type FailureExplainer, UsageError } from '../command.ts';
import { formatCounts } from '../format.ts';
import { printable } from '../printable.ts';

export type Members = Readonly<Record<string, unknown>>;

/** Codes of errors before there is a connection. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH',
]);

/** Parameters that remedies name. The names of columns that `map` has may contain spaces. */
const FILE_PARAMETER =
  /\b(mode|encoding|decimal|shortRows|skuFrom|duplicates|sheet|map)=((?<=map=)[^.,"]+|[\w+-]+)/g;

interface Details extends ErrorOptions {
  readonly wasReached?: boolean;
  readonly retryAfterMs?: number;
}

/** A failure after which a retry may succeed. */
export class TemporaryFailure extends CommandFailure {
  override readonly name = 'TemporaryFailure';
  /** False if no connection was made. */
  readonly wasReached: boolean;
  /** The server's `Retry-After`. */
  readonly retryAfterMs: number;

  constructor(message: string, { wasReached = true, retryAfterMs = 0, ...options }: Details = {}) {
    super(message, options);
    this.wasReached = wasReached;
    this.retryAfterMs = retryAfterMs;
  }
}

export const apiErrors: FailureExplainer = { explainFailure, findProblem };

/**
 * The failure to report for an error of the client; other errors are returned unchanged.
 * `TemporaryFailure` if a retry may succeed.
 */
export function explainFailure(error: unknown): unknown {
  const retryAfterMs = findRetryDelay(error);
  const isTemporary = retryAfterMs !== undefined;
  if (error instanceof ApiError) {
    // The parameters of a query are flags, each with its own sentence.
    const isUsage = error.code === 'invalid_query';
    const issues = isUsage ? formatIssues(error.issues) : '';
    const text = issues || explainProblem(error);
    const cause = { cause: error };
    if (isTemporary) return new TemporaryFailure(text, { retryAfterMs, ...cause });
    if (error.problem.type === UNEXPECTED_RESPONSE) {
      return new CommandFailure(`${text} Is --url right?`, cause);
    }
    return isUsage ? new UsageError(text, cause) : new CommandFailure(text, cause);
  }
  if (!(error instanceof ConnectionError)) return error;
  const { baseUrl, code = error.message } = error;
  if (UNREACHABLE.has(code)) {
    const text = `No server at ${baseUrl} (${code}). Start it, or give its address with --url.`;
    return isTemporary ? new TemporaryFailure(text, { wasReached: false })
      : new CommandFailure(text);
  }
  if (code === BLOCKED_PORT) return new CommandFailure(error.message);
  if (baseUrl === undefined) return new TemporaryFailure(error.message);
  if (isTemporary) return new TemporaryFailure(`The connection to ${baseUrl} broke (${code}).`);
  const hint = 'Is --url right? A private certificate authority must be in NODE_EXTRA_CA_CERTS.';
  return new CommandFailure(`The connection to ${baseUrl} failed (${code}). ${hint}`);
}

/** The problem document that the server sent, if a failure is due to one. */
export function findProblem(failure: unknown): Problem | undefined {
  if (failure instanceof ApiError) return failure.problem;
  return failure instanceof Error ? findProblem(failure.cause) : undefined;
}

function explainProblem({ problem, publicDetail, issues }: ApiError): string {
  const { type, title, instance, ...members } = problem;
  const detail = printable(publicDetail);
  if (type === UNEXPECTED_RESPONSE) return detail;
  const counts = formatCounts(asMembers(members['summary']));
  const parts = [`${printable(title)}.`, toFlags(detail), formatIssues(issues)];
  return [...parts, printable(instance), counts && `Before that: ${counts}.`].filter(Boolean)
    .join(' ');
}

/**
 * Runs an attempt and retries it after temporary failures, as often as the policy allows. A server
 * that was never reached is not retried; one that disconnected may be restarting.
 * @throws CommandFailure; TemporaryFailure when no retry is left
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>, policy: Backoff & { readonly retries: number },
  note: (text: string) => void,
): Promise<Result> {
  let wasReached = false;
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      const failure = explainFailure(error);
      if (!(failure instanceof TemporaryFailure)) throw failure;
      wasReached ||= failure.wasReached;
      if (!wasReached) throw new CommandFailure(failure.message);
      if (failures === policy.retries) throw failure;
      const waitMs = retryDelayMs(policy, failures, { retryAfterMs: failure.retryAfterMs });
      const count = `${failures + 1} of ${policy.retries}`;
      note(`${failure.message} Retrying in ${Math.ceil(waitMs / 1000)} s (${count}).`);
      await wait(waitMs);
    }
  }
}

/** The errors of a problem, each with the name of its member or flag. */
export function formatIssues(issues: unknown): string {
  if (!Array.isArray(issues)) return '';
  return issues.map((issue: unknown) => {
    const { pointer, parameter, detail } = asMembers(issue);
    // A parameter is the value of a flag.
    const name = parameter === undefined ? printable(pointer).replace(/^\//, '')
      : `--${toKebabCase(printable(parameter))}`;
    return [name, toFlags(printable(detail))].filter(Boolean).join(': ');
  }).join(' ');
}

/**
 * A text from the client with its options as flags: `decimal=comma` as `--decimal comma`. The
 * counts of its summary are printed in words.
 */
export function toFlags(text: string): string {
  const words = text.replace('to POST /api/v1/stock, not as an import', 'with "stock sync"')
    .replace(/\bzeroLimit\b/, '--zero-limit').replace('set force to true', 'add --force')
    .replace('as text/csv', 'with --format csv')
    .replace('The summary counts the results until then. ', '');
  return words.replaceAll(FILE_PARAMETER, (_, name: string, value: string) => {
    const flag = `--${toKebabCase(name)}`;
    return /\s/.test(value) ? `${flag} "${value}"` : `${flag} ${value}`;
  });
}

function toKebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The members of an object; none of anything else. */
export function asMembers(value: unknown): Members {
  // The cast: any object can be read by name; its values stay unknown.
  return typeof value === 'object' && value !== null ? value as Members : {};
}
