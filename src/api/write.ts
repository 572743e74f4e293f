/** What all changes have in common: whose they are, and that they are made once. */
import { readIdempotencyKey } from '../http/request/idempotency-key.ts';
import type { WriteContext } from '../store/write.ts';
import type { ApiRequest } from './route.ts';

/** The change is the caller's, and made once where it carries an Idempotency-Key. */
export function toWriteContext({ caller, headers }: ApiRequest): WriteContext {
  const { sellerId, keyId, address } = caller;
  const key = readIdempotencyKey(headers);
  const idempotency = key === undefined ? undefined : { key, part: 0 };
  return { sellerId, keyId, idempotency, address };
}

export function replayHeader(isReplay: boolean): Record<string, string> {
  return isReplay ? { 'idempotent-replay': 'true' } : {};
}
