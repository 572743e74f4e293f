/**
 * Turns a server's errors (RFC 9457 problem details) into one-line command failures, and retries
 * temporary ones. The server is not trusted: response size is limited, members are checked, and
 * control characters are replaced.
 */
import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { ERROR_BODY_LIMIT_BYTES } from '../limits.ts';
import { formatProblemType, PROBLEM_TYPE } from '../../http/response/problem.ts';
import { type Backoff, retryDelayMs } from '../../runtime/backoff.ts';
import { CommandFailure, UsageError } from '../command.ts';

type Members = Readonly<Record<string, unknown>>;

const QUERY_PROBLEM = formatProblemType('invalid-query');

/** Statuses after which the same request may succeed. */
const TEMPORARY: readonly unknown[] = [408, 429, 502, 503, 504];

/** A failure after which a retry may succeed. */
export class TemporaryFailure extends CommandFailure {
  override readonly name = 'TemporaryFailure';
  /** False if no connection was made. */
  readonly wasReached: boolean;
  /** The server's `Retry-After`. */
  readonly retryAfterMs: number;

  constructor(message: string, { wasReached = true, retryAfterMs = 0 } = {}) {
    super(message);
    this.wasReached = wasReached;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The failure for a response with a status other than 200. */
export async function readErrorResponse(
  url: string, response: IncomingMessage, body: AsyncIterable<Buffer>,
): Promise<CommandFailure | UsageError> {
  const { statusCode: status = 0, headers } = response;
  const retryAfterMs = Number(headers['retry-after'] ?? 0) * 1000 || 0;
  const members = parseObject(await readStart(body));
  if (headers['content-type']?.startsWith(PROBLEM_TYPE)) {
    return explainProblem({ ...members, status }, { retryAfterMs });
  }
  const text = `${url} responded with status ${status}, but not like a Seller Product API server.`;
  if (TEMPORARY.includes(status)) return new TemporaryFailure(text, { retryAfterMs });
  return new CommandFailure(`${text} Is --url right?`);
}

/** The failure for a problem document; `ending` is appended as a last sentence. */
export function explainProblem(
  problem: Members, { retryAfterMs = 0, ending = '' } = {},
): CommandFailure | UsageError {
  const { type, title, detail, status, errors, instance } = problem;
  const parts = [`${printable(title)}.`, printable(detail), formatIssues(errors)];
  const text = [...parts, printable(instance), ending].filter(Boolean).join(' ');
  if (TEMPORARY.includes(status)) return new TemporaryFailure(text, { retryAfterMs });
  return type === QUERY_PROBLEM ? new UsageError(text) : new CommandFailure(text);
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
      if (!(error instanceof TemporaryFailure)) throw error;
      wasReached ||= error.wasReached;
      if (!wasReached) throw new CommandFailure(error.message);
      if (failures === policy.retries) throw error;
      const waitMs = retryDelayMs(policy, failures, { retryAfterMs: error.retryAfterMs });
      const count = `${failures + 1} of ${policy.retries}`;
      note(`${error.message} Retrying in ${Math.ceil(waitMs / 1000)} s (${count}).`);
      await wait(waitMs);
    }
  }
}

/** The errors of a problem, each with the name of its member or flag. */
function formatIssues(issues: unknown): string {
  if (!Array.isArray(issues)) return '';
  return issues.map((issue: unknown) => {
    const { pointer, parameter, detail } = asMembers(issue);
    // A parameter is the value of a flag.
    const name = parameter === undefined ? printable(pointer).replace(/^\//, '')
      : `--${printable(parameter).replaceAll('_', '-')}`;
    return [name, printable(detail)].filter(Boolean).join(': ');
  }).join(' ');
}

/** Parses a JSON object; returns no members for any other text. */
export function parseObject(text: string): Members {
  try {
    return asMembers(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** The members of an object; none of anything else. */
export function asMembers(value: unknown): Members {
  // The cast: any object can be read by name; its values stay unknown.
  return typeof value === 'object' && value !== null ? value as Members : {};
}

/** Replaces characters that control a terminal or change the writing direction. */
export function printable(text: unknown): string {
  if (typeof text !== 'string') return '';
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
}

async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > ERROR_BODY_LIMIT_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}
