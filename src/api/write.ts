/**
 * The context of a write, with its Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07).
 * The key is a structured-field string (RFC 8941 section 3.3.3); many clients omit the quotes,
 * which means the same.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../domain/error.ts';
import type { WriteContext } from '../store/write.ts';
import { IDEMPOTENCY_KEY_LIMIT_CHARACTERS } from './limits.ts';
import type { ApiRequest } from './route.ts';

const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/;
/** Visible ASCII without quotes, and without commas, by which Node joins a repeated field. */
const BARE = /^[!#-+\--~]+$/;

export function toWriteContext({ caller, headers }: ApiRequest): WriteContext {
  const { sellerId, keyId, actorName, generation, address } = caller;
  const key = readIdempotencyKey(headers);
  const idempotency = key === undefined ? undefined : { key, part: 0 };
  return { sellerId, keyId, actorName, generation, idempotency, address };
}

export function replayHeader(isReplay: boolean): Record<string, string> {
  return isReplay ? { 'idempotent-replay': 'true' } : {};
}

/** 1 to 255 ASCII characters; undefined without the field. @throws AppError `invalid_data` */
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
