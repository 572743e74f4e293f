/** The secret of a webhook that was just made: shown this once, with what it is for. */
import { formatWebhookId } from '../../../domain/id.ts';
import type { WebhookWithSecret } from '../../../store/webhook-store.ts';
import { copyable } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';

export function renderNewSecret({ webhook, secret }: WebhookWithSecret): Html {
  return html`<section class="card" aria-labelledby="new-secret">
    <h2 id="new-secret">Signing secret</h2>
    <p>Copy it now. You won't see it again. Your server uses it to verify that messages come
      from here.</p>
    ${copyable('secret', secret)}
    <h3>How to verify a message</h3>
    <p>Messages are signed according to Standard Webhooks 1.0.0, which has libraries for most
      languages. Without a library:</p>
    <ol>
      <li>Join <code>webhook-id</code>, <code>webhook-timestamp</code> (both are headers) and the
        unmodified body with full stops.</li>
      <li>Compute the HMAC-SHA256 of the result. The key is the part after <code>whsec_</code>,
        decoded from base64.</li>
      <li>Encode it in base64 and prefix <code>v1,</code>. It must equal one of the space-separated
        signatures in <code>webhook-signature</code>.</li>
      <li>Reject a <code>webhook-timestamp</code> that is more than five minutes off, and messages
        for any webhook other than <code>${formatWebhookId(webhook)}</code>.</li>
    </ol>
  </section>`;
}
