/** The audit log: events of sellers, accounts, keys and webhooks, with time and address. */
import type { AccountId, SellerId } from '../id.ts';

export const AUDIT_TYPES = [
  'account_created', 'account_removed',
  'signed_in', 'signed_in_with_passkey', 'sign_in_refused', 'signed_out', 'session_ended',
  'email_changed', 'password_changed', 'password_reset',
  'totp_enabled', 'totp_disabled', 'totp_reset', 'recovery_codes_made', 'recovery_code_used',
  'passkey_added', 'passkey_removed', 'password_sign_in_disabled', 'password_sign_in_enabled',
  'settings_changed', 'shop_settings_changed',
  'account_renamed', 'role_changed', 'invitation_created', 'invitation_revoked',
  'key_created', 'key_rotated', 'key_revoked',
  'webhook_created', 'webhook_changed', 'webhook_secret_rotated', 'webhook_deleted',
  'seller_changed', 'seller_disabled', 'seller_enabled', 'seller_deleted',
] as const;
export type AuditType = (typeof AUDIT_TYPES)[number];

/** Who requested what an event records, and from where. */
export interface Requester {
  /** The name of an account or of a key; undefined for the command line. */
  readonly actorName?: string | undefined;
  /**
   * The account of the portal that asks, which must be an owner still where only owners may. It is
   * not recorded. Undefined for keys and for the command line.
   */
  readonly accountId?: AccountId | undefined;
  /** The client's address; undefined or empty for the command line and for embedders. */
  readonly address?: string | undefined;
}

export interface NewAuditEvent extends Requester {
  readonly sellerId: SellerId | undefined;
  readonly type: AuditType;
  /** What the event is about, for people: up to 300 characters, never a secret. */
  readonly subject: string;
}

export interface AuditEvent extends NewAuditEvent {
  readonly address: string;
  /** Increases with each event of the seller. */
  readonly n: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}
