/**
 * What a server says when it refuses (RFC 9457 problem details), in one line for a person. It may
 * be any server: nothing is taken for what it should be, and nothing is shown as it came.
 */
import type { IncomingMessage } from 'node:http';
import { ERROR_BODY_LIMIT_BYTES } from '../limits.ts';
import { formatProblemType, PROBLEM_TYPE } from '../../http/response/problem.ts';
import { CommandFailure, UsageError } from '../command.ts';
import { TemporaryFailure } from './retry.ts';

type Members = Readonly<Record<string, unknown>>;

const QUERY_PROBLEM = formatProblemType('invalid-query');

/** Statuses after which the same request may succeed. */
const TEMPORARY: readonly unknown[] = [408, 429, 502, 503, 504];

/** The failure that an answer of another status than 200 means. */
export async function readErrorResponse(
  url: string, answer: IncomingMessage, body: AsyncIterable<Buffer>,
): Promise<CommandFailure | UsageError> {
  const { statusCode: status = 0, headers } = answer;
  const retryAfterMs = Number(headers['retry-after'] ?? 0) * 1000 || 0;
  const members = parseObject(await readStart(body));
  if (headers['content-type']?.startsWith(PROBLEM_TYPE)) {
    return explainProblem({ ...members, status }, { retryAfterMs });
  }
  const text = `${url} answered with status ${status}, and not as this kind of server does.`;
  if (TEMPORARY.includes(status)) return new TemporaryFailure(text, { retryAfterMs });
  return new CommandFailure(`${text} Is --url right?`);
}

/** The failure that a problem document means, with a sentence more. */
export function explainProblem(
  problem: Members, { retryAfterMs = 0, ending = '' } = {},
): CommandFailure | UsageError {
  const { type, title, detail, status, errors, instance } = problem;
  const parts = [`${printable(title)}.`, printable(detail), formatIssues(errors)];
  const text = [...parts, printable(instance), ending].filter(Boolean).join(' ');
  if (TEMPORARY.includes(status)) return new TemporaryFailure(text, { retryAfterMs });
  return type === QUERY_PROBLEM ? new UsageError(text) : new CommandFailure(text);
}

/** The faults of a problem, or of a row, each with the name of what is at fault before it. */
export function formatIssues(issues: unknown): string {
  if (!Array.isArray(issues)) return '';
  return issues.map((issue: unknown) => {
    const { pointer, parameter, detail } = asMembers(issue);
    // A parameter is the value of a flag.
    const name = parameter === undefined ? printable(pointer).replace(/^\//, '')
      : `--${printable(parameter).replaceAll('_', '-')}`;
    return name === '' ? printable(detail) : `${name}: ${printable(detail)}`;
  }).join(' ');
}

/** No members for a text that is not JSON, or JSON of something else. */
export function parseObject(text: string): Members {
  try {
    return asMembers(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** No members for anything but an object. */
export function asMembers(value: unknown): Members {
  // What JSON has as an object or an array can be read by name: what it holds stays unknown.
  return typeof value === 'object' && value !== null ? value as Members : {};
}

/** A text without what moves the cursor of a terminal, or turns the direction of writing. */
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
