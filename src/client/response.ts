/**
 * Reads responses, as long as the server sends something in time. Nothing in a response is trusted:
 * a proxy in between may answer with anything.
 */
import {
  ConnectionError, createApiError, describeUnexpected, parseObject, type Problem, TimeoutError,
  toProblem,
} from './errors.ts';
import { parseRetryAfter } from '../runtime/backoff.ts';
import type { ApiResponse } from './sender.ts';

/** Aborts a request when the server is silent for too long, or when the caller aborts it. */
export class Silence {
  readonly #timeoutMs: number;
  readonly #baseUrl: string;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Aborted with the request. */
  readonly signal: AbortSignal;

  constructor(timeoutMs: number, baseUrl: string, caller: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs;
    this.#baseUrl = baseUrl;
    this.signal = caller ? AbortSignal.any([caller, this.#controller.signal])
      : this.#controller.signal;
    this.restart();
  }

  /** Call it when the server is waited for. */
  restart(): void {
    this.stop();
    this.#timer = setTimeout(() => {
      const text = `The server at ${this.#baseUrl} sent nothing for ${this.#timeoutMs} ms.`;
      this.end(new TimeoutError(text, { code: 'ETIMEDOUT', baseUrl: this.#baseUrl }));
    }, this.#timeoutMs);
  }

  /** Call it when the server took a part of the request: it is not silent. */
  postpone(): void {
    if (this.#timer !== undefined) this.restart();
  }

  /** Call it while the server is not waited for. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Ends the request; who waits for it gets the reason. */
  end(reason: unknown): void {
    this.stop();
    this.#controller.abort(reason);
  }

  /** Calls a function of the caller, whose error ends the request. */
  guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.end(error);
      throw error;
    }
  }

  /** The error that a caller gets; the request has ended. */
  explain(error: unknown): unknown {
    this.stop();
    const { signal } = this;
    if (signal.aborted) return signal.reason;
    const explained = explainFetchError(error, this.#baseUrl);
    this.#controller.abort(explained);
    return explained;
  }
}

function explainFetchError(error: unknown, baseUrl: string): unknown {
  // `fetch` throws a TypeError with the cause; nothing else here does.
  if (!(error instanceof TypeError)) return error;
  const cause = error.cause instanceof Error ? error.cause : error;
  const ownCode = 'code' in cause ? String(cause.code) : undefined;
  const code = cause.message === 'bad port' ? BLOCKED_PORT : CODES[ownCode ?? ''] ?? ownCode;
  const reason = code === BLOCKED_PORT
    ? '`fetch` never uses this port, which belongs to another protocol. Serve on another port'
    : cause.message || code;
  return new ConnectionError(`No response from ${baseUrl}: ${reason}.`, { code, baseUrl, cause });
}

/** Our name for "port blocking" of the Fetch Standard. */
export const BLOCKED_PORT = 'ERR_BLOCKED_PORT';
/** Node's `fetch` has names of its own for some errors. */
const CODES: Readonly<Partial<Record<string, string>>> = {
  UND_ERR_SOCKET: 'ECONNRESET', UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
};

/** The chunks as the body of a request. If making them fails, that is the request's error. */
export function openUpload(
  chunks: AsyncIterable<Uint8Array>, silence: Silence,
): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  const { signal } = silence;
  let end = (): void => {};
  return new ReadableStream({
    start(controller) {
      end = () => {
        signal.removeEventListener('abort', end);
        if (signal.aborted) controller.error(signal.reason);
        iterator.return?.()?.catch(() => {}); // the request has ended, whatever its source does
      };
      signal.addEventListener('abort', end); // Node's `fetch` would read the rest of the source
    },
    async pull(controller) {
      try {
        const { done, value } = await iterator.next();
        if (signal.aborted) return;
        silence.postpone();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        silence.end(error);
      }
    },
    cancel: () => end(),
  }, { highWaterMark: 0 });
}

/** The response as it is read, guarded by `silence`; `limit` is that of a text. */
export function openResponse(response: Response, silence: Silence, limit: number): ApiResponse {
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, void> {
    const reader = response.body?.getReader();
    let isComplete = false;
    try {
      for (;;) {
        silence.restart();
        const step = await reader?.read();
        silence.stop(); // who reads this may take time
        isComplete = !step || step.done;
        if (!step?.value) return;
        yield step.value;
      }
    } catch (error) {
      throw silence.explain(error);
    } finally {
      if (!isComplete) silence.end(new Error('The response was not read to its end.'));
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    chunks,
    async text() {
      const decoder = new TextDecoder();
      let text = '';
      for await (const chunk of chunks()) {
        text += decoder.decode(chunk, { stream: true });
        if (text.length <= limit) continue;
        const detail = `The response has more than ${limit} characters, which is the limit of the `
          + 'option `responseLimitCharacters`.';
        const error = createApiError(describeUnexpected(response.status, detail));
        silence.end(error);
        throw error;
      }
      return text + decoder.decode();
    },
  };
}

/** The error for a response with a status from 400, or a redirect. */
export async function readProblem(response: Response, readable: ApiResponse): Promise<Error> {
  const { headers } = response;
  const retryAfterSeconds = parseRetryAfter(headers.get('retry-after'), headers.get('date'));
  return createApiError(await parseProblem(response, readable), { retryAfterSeconds });
}

async function parseProblem({ status, headers }: Response, body: ApiResponse): Promise<Problem> {
  if (!headers.get('content-type')?.startsWith('application/problem+json')) {
    const location = headers.get('location');
    return describeUnexpected(status, location === null ? undefined
      : `The server responded with status ${status}, and redirects to ${location}. `
        + 'If that is the API, use it as baseUrl.');
  }
  const text = await body.text();
  try {
    return toProblem(parseObject(text), status);
  } catch {
    return describeUnexpected(status);
  }
}
