/**
 * Signs messages by Standard Webhooks 1.0.0 (section "Verifying webhook authenticity"): HMAC-SHA256
 * over the id of the message, the second in which it is sent, and its body, with full stops
 * between; so an id may have none. While two secrets are valid, both sign.
 */
import { createHmac } from 'node:crypto';
import { decodeWebhookSecret, type WebhookSecret } from '../../domain/webhooks/webhook-secret.ts';

interface Signed {
  readonly id: string;
  /** Of this attempt, milliseconds since 1970. */
  readonly at: number;
  readonly body: string;
}

/** The three header fields by which a receiver knows whose message it is. */
export function signMessage(
  { id, at, body }: Signed, secrets: readonly WebhookSecret[],
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', decodeWebhookSecret(secret));
    return `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
