/**
 * Reads responses, as long as the server sends something in time. Nothing in a response is trusted:
 * a proxy in between may answer with anything.
 */
import {
  ConnectionError, createApiError, type Problem, TimeoutError, toProblem,
} from './errors.ts';
import type { ApiResponse } from './sender.ts';

/** Longest problem document that is read; the results of 10,000 stock changes may be in it. */
const PROBLEM_LIMIT_CHARACTERS = 10_000_000;

/** Aborts a request when the server is silent for too long, or when the caller aborts it. */
export class Silence {
  readonly #timeoutMs: number;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Aborted with the request. */
  readonly signal: AbortSignal;

  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs;
    this.signal = caller ? AbortSignal.any([caller, this.#controller.signal])
      : this.#controller.signal;
    this.restart();
  }

  /** Call it whenever the server sent something. */
  restart(): void {
    this.stop();
    this.#timer = setTimeout(() => {
      const text = `The server sent nothing for ${this.#timeoutMs} ms.`;
      this.#controller.abort(new TimeoutError(text));
    }, this.#timeoutMs);
  }

  /** Call it while the server is not waited for. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the request. */
  end(): void {
    this.stop();
    this.#controller.abort(new ConnectionError('The response was not read to its end.'));
  }

  /** The error that a caller gets; the request has ended. */
  explain(error: unknown): unknown {
    this.stop();
    const { signal } = this;
    if (signal.aborted) return signal.reason;
    this.#controller.abort(error);
    // `fetch` throws a TypeError with the cause; nothing else here does.
    if (!(error instanceof TypeError)) return error;
    const cause = error.cause instanceof Error ? error.cause : error;
    const code = 'code' in cause ? ` (${String(cause.code)})` : '';
    return new ConnectionError(`No response: ${cause.message}${code}.`, { cause });
  }
}

/** The response as it is read, guarded by `silence`. */
export function openResponse(response: Response, silence: Silence): ApiResponse {
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
      if (!isComplete) silence.end();
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    chunks,
    async text() {
      const decoder = new TextDecoder();
      let text = '';
      for await (const chunk of chunks()) text += decoder.decode(chunk, { stream: true });
      return text + decoder.decode();
    },
  };
}

/** The error for a response with a status from 400, or a redirect. */
export async function readProblem(response: Response, readable: ApiResponse): Promise<Error> {
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN);
  return createApiError(await parseProblem(response, readable),
    Number.isFinite(retryAfter) ? retryAfter : undefined);
}

async function parseProblem({ status, headers }: Response, body: ApiResponse): Promise<Problem> {
  if (!headers.get('content-type')?.startsWith('application/problem+json')) {
    const location = headers.get('location');
    const detail = location === null ? {}
      : { detail: `The server redirects to ${location}. If that is it, use it as baseUrl.` };
    return toProblem(detail, status);
  }
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body.chunks()) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > PROBLEM_LIMIT_CHARACTERS) break;
  }
  try {
    return toProblem(JSON.parse(text), status);
  } catch {
    return toProblem({}, status); // it broke off
  }
}
