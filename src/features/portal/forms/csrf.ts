/**
 * Against forged requests (OWASP Cross-Site Request Forgery Prevention): whatever is not a plain
 * read has to come from a page of this very portal, by what the browser says of it (Fetch Metadata,
 * or `Origin` where there is none), and has to carry a token that only such a page could hold. A
 * request that leaves either in doubt is refused.
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

/** What the token of somebody who is not signed in hangs on; undefined where they are new here. */
export function readAnonymousSecret(header: string | undefined): string | undefined {
  const secret = readCookie(header, COOKIE);
  return secret !== undefined && SECRET.test(secret) ? secret : undefined;
}

export function makeAnonymousSecret(): { readonly secret: string; readonly cookie: string } {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { secret, cookie: formatCookie(COOKIE, secret) };
}

/** The token of all forms that a browser is shown under one secret: that of its cookie. */
export function makeCsrfToken(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url');
}

/** @throws AppError `browser_refused` */
export function assertCsrfToken(secret: string | undefined, sent: string): void {
  if (secret !== undefined) {
    const [expected, given] = [makeCsrfToken(secret), sent].map((text) => Buffer.from(text));
    const isSame = expected?.length === given?.length
      && timingSafeEqual(expected ?? Buffer.alloc(0), given ?? Buffer.alloc(1));
    if (isSame) return;
  }
  throw refuse('It came from a page that was open for too long, or from before you signed in.');
}

/** `origin` is that of the portal itself. @throws AppError `browser_refused` */
export function assertSameOrigin(headers: IncomingHttpHeaders, origin: string): void {
  const base = headers['sec-fetch-site'];
  if (base !== undefined ? base === 'same-origin' : headers.origin === origin) return;
  throw refuse('It does not come from a page of this portal.');
}

function refuse(why: string): AppError {
  const hint = 'Nothing was changed. Open the page anew, and send it again.';
  return new AppError('browser_refused', `${why} ${hint}`);
}
