/** Serves small pages for the tests of the browser toolkit. */
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenUntilEnd } from '../support/listening.ts';
import type { Lifetime } from './browser.ts';

export interface SmallPage {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The response to `METHOD /path`: a page, or its HTML. */
export type SmallPages = Readonly<Record<
  string, string | SmallPage | ((body: string, request: IncomingMessage) => string | SmallPage)
>>;

/** Serves pages until the test ends; resolves with `http://127.0.0.1:{port}`. */
export function servePages(t: Lifetime, pages: SmallPages): Promise<string> {
  return listenUntilEnd(t, async (request, response) => {
    const entry = pages[`${request.method} ${request.url}`] ?? { status: 404 };
    const page = typeof entry === 'function' ? entry(await text(request), request) : entry;
    const { status = 200, headers = {}, body = '' } = typeof page === 'string'
      ? { body: page }
      : page;
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers });
    response.end(body);
  });
}
