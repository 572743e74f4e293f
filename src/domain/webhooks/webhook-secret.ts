/**
 * The secret by which an endpoint knows that a message is of this server, as Standard Webhooks
 * 1.0.0 writes it: `whsec_` and the base64 of 32 random bytes.
 */
import { randomBytes } from 'node:crypto';

declare const brand: unique symbol;
/** Shown where it is made, and nowhere else; kept sealed, never logged or put into an error. */
export type WebhookSecret = string & { readonly [brand]: 'WebhookSecret' };

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A fresh secret from the operating system's generator. */
export function generateWebhookSecret(): WebhookSecret {
  // The cast is what this function makes.
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}` as WebhookSecret;
}

/** The key to sign with. */
export function decodeWebhookSecret(secret: WebhookSecret): Uint8Array {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}
