/**
 * Reads Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07): a string of structured
 * fields (RFC 8941 section 3.3.3). Many clients send the key bare, and that is taken for the same.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { IDEMPOTENCY_KEY_LIMIT_CHARACTERS } from '../limits.ts';
import { AppError } from '../../domain/error.ts';

const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/;
/** Visible, without quotes, and without the commas by which Node joins a field that came twice. */
const BARE = /^[!#-+\--~]+$/;

/** 1 to 255 characters of ASCII; undefined where there is no such field. @throws `invalid_data` */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const field = headers['idempotency-key'];
  if (field === undefined) return undefined;
  const key = parseKey(String(field));
  if (key !== undefined && key.length <= IDEMPOTENCY_KEY_LIMIT_CHARACTERS) return key;
  const shape = `one key of 1 to ${IDEMPOTENCY_KEY_LIMIT_CHARACTERS} visible ASCII characters`;
  const example = 'Idempotency-Key: "2b1c6f0e-7c0e-4f43-9d0c-5d6f9a1f8a11"';
  throw new AppError('invalid_data', `Send ${shape}, such as ${example}.`);
}

function parseKey(field: string): string | undefined {
  const quoted = QUOTED.exec(field)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\(["\\])/g, '$1');
  return BARE.test(field) ? field : undefined;
}
