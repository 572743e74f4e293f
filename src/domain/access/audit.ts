/** The audit log: what happened to sellers, their accounts and keys, when, and from where. */
import type { SellerId } from '../id.ts';

export const AUDIT_TYPES = [
  'account_created',
  'account_removed',
  'signed_in',
  'sign_in_refused',
  'signed_out',
  'session_ended',
  'email_changed',
  'password_changed',
  'password_reset',
  'totp_enabled',
  'totp_disabled',
  'totp_reset',
  'recovery_codes_made',
  'recovery_code_used',
  'settings_changed',
  'invitation_created',
  'key_created',
  'key_rotated',
  'key_revoked',
  'webhook_created',
  'webhook_changed',
  'webhook_secret_rotated',
  'webhook_deleted',
  'seller_disabled',
  'seller_enabled',
] as const;
export type AuditType = (typeof AUDIT_TYPES)[number];

export interface NewAuditEvent {
  readonly sellerId: SellerId | undefined;
  readonly type: AuditType;
  /** Where it was asked for; empty for the command line and whoever embeds the server. */
  readonly address: string;
  /** What it was done to, for people to read: up to 300 characters, none of them secret. */
  readonly subject: string;
}

export interface AuditEvent extends NewAuditEvent {
  /** Counts the events of all sellers, from 1. */
  readonly n: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}
