/** What people read where passkeys cannot work: browsers have none for IP addresses. */
import { html, type Html } from '../html/html.ts';
import { type AnonymousPageRequest, ROOT } from '../route.ts';

/** @param path The page to open at a host name instead, below `/portal`. */
export function renderAddressNote({ base: { url } }: AnonymousPageRequest, path: string): Html {
  const local = new URL(url);
  const isLocal = local.hostname === '127.0.0.1' || local.hostname === '[::1]';
  local.hostname = 'localhost';
  const here = `${local.href.replace(/\/$/, '')}${ROOT}${path}`;
  return html`Passkeys need a host name, and you have opened the portal at an IP address.
    ${isLocal ? html`To use them, open it as <code>${here}</code> instead.`
    : 'To use them, start the server with --base-url and a host name.'}`;
}
