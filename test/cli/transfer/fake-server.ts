/** A fake server, for responses that a real one rarely sends. */
import type { RequestListener } from 'node:http';
import type { TestContext } from 'node:test';
import { listenUntilEnd } from '../../support/listening.ts';

/** The header fields of an export as CSV. */
export const CSV_EXPORT = {
  'seller-position': '7', 'content-type': 'text/csv; charset=utf-8; end=record',
};

/** The end record of an export with one column. */
export const endRecord = (rows: number): string => `#end rows=${rows} position=7\r\n`;

/**
 * Starts a server that uses these listeners in turn, then always the last. It has no records of
 * imports, for which commands ask before they send a file. Returns its URL.
 */
export function startFakeServer(
  t: TestContext, ...answers: readonly RequestListener[]
): Promise<string> {
  let requests = 0;
  return listenUntilEnd(t, (request, response) => {
    if (request.url?.endsWith('/imports?limit=1')) return void response.writeHead(404).end();
    const answer = answers[Math.min(requests, answers.length - 1)];
    requests += 1;
    request.on('error', () => {}); // it may be cut off
    answer?.(request, response);
  });
}
