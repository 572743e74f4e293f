/**
 * Webhook secrets and signatures by Standard Webhooks 1.0.0 (section "Verifying webhook
 * authenticity"): HMAC-SHA256 over the message id, the attempt's Unix time in seconds and the body,
 * joined by full stops, so an id must not contain one. While two secrets are valid, both sign.
 */
import { createHmac, randomBytes } from 'node:crypto';

declare const brand: unique symbol;
/** `whsec_` and base64. Shown once when it is generated; stored encrypted, never logged. */
export type WebhookSecret = string & { readonly [brand]: 'WebhookSecret' };

/** Shown to the seller if a webhook's secrets cannot be decrypted. */
export const UNREADABLE_SECRET = 'The secret cannot be decrypted: server.key is missing, or '
  + 'belongs to another database. Rotate the secret.';

export const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

interface SignedMessage {
  readonly id: string;
  /** When this attempt starts, milliseconds since 1970. */
  readonly at: number;
  readonly body: string;
}

/** A new secret from a CSPRNG. */
export function generateWebhookSecret(): WebhookSecret {
  // The cast is what this function generates.
  return `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}` as WebhookSecret;
}

/** The three header fields by which a receiver authenticates a message. */
export function signMessage(
  { id, at, body }: SignedMessage, secrets: readonly WebhookSecret[],
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const signatures = secrets.map((secret) => {
    const bytes = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${computeSignature(bytes, { id, timestamp, body }).toString('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

/** The HMAC of a message. @param secret The bytes of the secret */
export function computeSignature(
  secret: Uint8Array,
  message: { readonly id: string; readonly timestamp: string; readonly body: string | Uint8Array },
): Buffer {
  const { id, timestamp, body } = message;
  return createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest();
}
