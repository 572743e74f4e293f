/**
 * CSRF protection (OWASP Cross-Site Request Forgery Prevention). Every request other than a plain
 * read must come from a page of this portal according to the browser (Fetch Metadata, or else
 * `Origin`), and must carry a token that only such a page has. Anything else is rejected.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../../domain/error.ts';
import { formatCookie, readCookie } from '../sign-in/cookie.ts';

/** The name of the field that carries the token. */
export const CSRF_FIELD = 'csrf';

const COOKIE = 'visit';
const SECRET_BYTES = 32;
const SECRET = /^[\w-]{43}$/;

/** The CSRF secret of a browser without a session; undefined on its first request. */
export function readAnonymousSecret(header: string | undefined): string | undefined {
  const secret = readCookie(header, COOKIE);
  return secret !== undefined && SECRET.test(secret) ? secret : undefined;
}

export function makeAnonymousSecret(): { readonly secret: string; readonly cookie: string } {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { secret, cookie: formatCookie(COOKIE, secret) };
}

/** The token for all forms shown to a browser; `secret` is in the browser's cookie. */
export function makeCsrfToken(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url');
}

/** @throws AppError `browser_refused` */
export function assertCsrfToken(secret: string | undefined, token: string): void {
  if (secret !== undefined) {
    const [expected, actual] = [Buffer.from(makeCsrfToken(secret)), Buffer.from(token)];
    if (expected.length === actual.length && timingSafeEqual(expected, actual)) return;
  }
  throw rejected('The page was open for too long, or you have signed in since it was loaded.');
}

/** @param origin The portal's own origin. @throws AppError `browser_refused` */
export function assertSameOrigin(headers: IncomingHttpHeaders, origin: string): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined ? site === 'same-origin' : headers.origin === origin) return;
  throw rejected('The request did not come from a page of this portal.');
}

function rejected(reason: string): AppError {
  const hint = 'Nothing was changed. Reload the page and submit the form again.';
  return new AppError('browser_refused', `${reason} ${hint}`);
}
