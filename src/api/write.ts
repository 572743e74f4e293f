/**
 * What every write has in common: its context, and its Idempotency-Key
 * (draft-ietf-httpapi-idempotency-key-header-07), a string of structured fields (RFC 8941 section
 * 3.3.3). Many clients send the key without quotes, which means the same.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../domain/error.ts';
import type { WriteContext } from '../store/write.ts';
import { IDEMPOTENCY_KEY_LIMIT_CHARACTERS } from './limits.ts';
import type { ApiRequest } from './route.ts';

const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/;
/** Visible, without quotes, and without the commas with which Node joins a repeated field. */
const BARE = /^[!#-+\--~]+$/;

/** The write is the caller's, and idempotent if it has an Idempotency-Key. */
export function toWriteContext({ caller, headers }: ApiRequest): WriteContext {
  const { sellerId, keyId, address } = caller;
  const key = readIdempotencyKey(headers);
  const idempotency = key === undefined ? undefined : { key, part: 0 };
  return { sellerId, keyId, idempotency, address };
}

export function replayHeader(isReplay: boolean): Record<string, string> {
  return isReplay ? { 'idempotent-replay': 'true' } : {};
}

/** 1 to 255 ASCII characters; undefined if there is no such field. @throws `invalid_data` */
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
