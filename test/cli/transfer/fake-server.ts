/** A server that responds as a test wants, for what a real one seldom does. */
import type { RequestListener } from 'node:http';
import type { TestContext } from 'node:test';
import { listenUntilEnd } from '../../support/listening.ts';

/** The URL of a server that answers its requests with these, in turn, and then with the last. */
export function startFakeServer(
  t: TestContext, ...answers: readonly RequestListener[]
): Promise<string> {
  let requests = 0;
  return listenUntilEnd(t, (request, response) => {
    const answer = answers[Math.min(requests, answers.length - 1)];
    requests += 1;
    request.on('error', () => {}); // it may have been cut off
    answer?.(request, response);
  });
}
