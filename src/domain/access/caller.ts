/** The caller of a request: their identity, permissions and catalogue, passed as an argument. */
import type { Currency } from '../catalogue/currency.ts';
import type { KeyId, SellerId } from '../id.ts';
import { ACTOR_LIMIT_CODE_POINTS } from '../limits.ts';
import type { Generation } from '../revision.ts';
import { lineValidator } from '../validation.ts';

/** Permissions of keys. A key has one or more scopes; a route requires one of those it names. */
export const SCOPES = [
  'products:read',
  'products:write',
  'prices:write',
  'stock:write',
  'changes:read',
  'webhooks:write',
] as const;

/** A permission of a key. */
export type Scope = (typeof SCOPES)[number];

export interface Caller {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
  /** Who acts without a key, such as `erp-sync` (`actorName`), if given. */
  readonly actorName?: string | undefined;
  readonly scopes: readonly Scope[];
  /** The key's own rate limit, in requests, if it has one. */
  readonly rateLimitPerMinute?: number | undefined;
  /** The client's address. */
  readonly address: string;
  /** Position of the seller's catalogue when the caller was authenticated: 0 before any change. */
  readonly position: number;
  /** Of the catalogue. */
  readonly generation: Generation;
  readonly currency: Currency;
}

/** The name of an actor without a key. */
export const actorName = lineValidator(ACTOR_LIMIT_CODE_POINTS);

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
