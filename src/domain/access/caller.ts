/** Authority as an argument: who asks, what they may do, and where their catalogue stands. */
import type { Currency } from '../catalogue/currency.ts';
import type { KeyId, SellerId } from '../id.ts';
import type { Scope } from './scope.ts';

export interface Caller {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
  readonly scopes: readonly Scope[];
  /** The address that the request came from, as text. */
  readonly address: string;
  /** Position of the seller's catalogue when the caller was authenticated: 0 before any change. */
  readonly position: number;
  readonly currency: Currency;
}
