/** Whether a web page sent a request, by its browser's headers; a typed address does not count. */
import type { IncomingHttpHeaders } from 'node:http';

export function isFromWebPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return headers.origin !== undefined || (site !== undefined && site !== 'none');
}
