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

const PREFIX = 'whsec_';
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
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}` as WebhookSecret;
}

/** The three header fields by which a receiver authenticates a message. */
export function signMessage(
  { id, at, body }: SignedMessage, secrets: readonly WebhookSecret[],
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'));
    return `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
