/** The secret of a webhook that was just made: shown this once, with what it is for. */
import { formatWebhookId } from '../../../domain/id.ts';
import type { WebhookWithSecret } from '../../../store/webhook-store.ts';
import { copyable } from '../html/copyable.ts';
import { html, type Html } from '../html/html.ts';

export function renderNewSecret({ webhook, secret }: WebhookWithSecret): Html {
  return html`<section class="card" aria-labelledby="new-secret">
    <h2 id="new-secret">The secret</h2>
    <p>Keep it now: it is shown this once. With it your server knows that a message is from
      here.</p>
    ${copyable('secret', secret)}
    <h3>How to check a message</h3>
    <p>Messages are signed as Standard Webhooks 1.0.0 says, for which there are libraries in most
      languages. Without one:</p>
    <ol>
      <li>Join <code>webhook-id</code>, <code>webhook-timestamp</code> (both are header fields) and
        the body as it came, with full stops between.</li>
      <li>Make the HMAC-SHA256 of that. The key is what stands after <code>whsec_</code>, decoded
        from base64.</li>
      <li>Written in base64, with <code>v1,</code> before it, it must be one of the signatures in
        <code>webhook-signature</code>, which has spaces between them.</li>
      <li>Refuse a <code>webhook-timestamp</code> that is more than five minutes off, and what is
        for another webhook than <code>${formatWebhookId(webhook)}</code>.</li>
    </ol>
  </section>`;
}
