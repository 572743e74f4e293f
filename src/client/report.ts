/**
 * The report on a file or on a stream of stock changes: a line for each row that the server
 * reports, while the rest is still being sent, and then a summary.
 */
import {
  type ApiError, ConnectionError, createApiError, parseObject, toProblem,
} from './errors.ts';
import { readLines } from './lines.ts';
import type { ApiResponse } from './sender.ts';

/**
 * Iterate over it for the lines, or call `summary` to skip them. It must be read: the server stops
 * taking rows while nobody reads its report.
 */
export class Report<Line, Summary> implements AsyncIterable<Line> {
  readonly #lines: AsyncGenerator<string, void, void>;
  #summary: Summary | undefined;

  /** @internal */
  constructor(response: ApiResponse) {
    this.#lines = readLines(response.chunks());
  }

  /**
   * @throws ApiError if the server had to stop early; its `problem.summary` counts what was
   *   written before and stays. ConnectionError if the report breaks off.
   */
  async* [Symbol.asyncIterator](): AsyncGenerator<Line, void, void> {
    for await (const text of this.#lines) {
      const { summary, problem, ...line } = parseObject(text);
      if (problem !== undefined) throw toError(problem);
      // The casts: a line of the server is a problem, a summary or a row.
      if (summary !== undefined) this.#summary = summary as Summary;
      else yield line as Awaited<Line>;
    }
    if (this.#summary === undefined) {
      const text = 'The connection broke before the end. What was written stays: send it again.';
      throw new ConnectionError(text);
    }
  }

  /** Reads the rest of the report. @throws as iterating does */
  async summary(): Promise<Summary> {
    for await (const _ of this);
    if (this.#summary !== undefined) return this.#summary;
    throw new ConnectionError('This report was not read to its end.');
  }
}

/** Starts reading a report. */
export async function openReport<Line, Summary>(
  response: ApiResponse,
): Promise<Report<Line, Summary>> {
  return new Report(response);
}

function toError(problem: unknown): ApiError {
  // The cast: members of any value but null can be read, and stay unknown.
  const members = { ...problem as Record<string, unknown> };
  const status = Number(members['status'] ?? 500);
  return createApiError(toProblem(members, status));
}
