/** What can be done with a webhook, as the cards on its page. */
import { formatWebhookId } from '../../../domain/id.ts';
import type { Webhook } from '../../../domain/webhooks/webhook.ts';
import { postForm, selectField, textField } from '../forms/fields.ts';
import { type FieldErrors, nonceField } from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import { OVERLAPS } from '../forms/typed-values.ts';
import type { PageRequest } from '../route.ts';

/** Of the fields that may be at fault. */
export const CARD_LABELS = { position: 'Send changes after position' };

/** The path of the page of a webhook. */
export function pathOf(webhook: Webhook): string {
  return `/webhooks/${formatWebhookId(webhook)}`;
}

/** `typed` is the position to send from again. */
export function renderCards(
  request: PageRequest, webhook: Webhook, errors: FieldErrors, typed: string,
): Html {
  const { format, link, position } = request;
  const action = (name: string): string => link(`${pathOf(webhook)}/${name}`);
  return html`<div class="columns">
    <section class="card" aria-labelledby="test">
      <h2 id="test">Test</h2>
      <p>Sends a signed test message now, even if the webhook is disabled.</p>
      ${postForm(request, action('test'), html`<button>Send test message</button>`)}
    </section>
    ${renderSwitch(request, webhook, action('status'))}
    <section class="card" aria-labelledby="replay">
      <h2 id="replay">Resend changes</h2>
      ${postForm(request, action('replay'), html`${nonceField()}
        ${textField({
    name: 'position', label: CARD_LABELS.position, value: typed, inputMode: 'numeric',
    errors,
    hint: `0 resends the whole history. The current position is ${format.number(position)}.`,
  })}
        <button>Resend</button>`)}
    </section>
    <section class="card" aria-labelledby="rotate">
      <h2 id="rotate">Rotate secret</h2>
      ${postForm(request, action('rotate'), html`${nonceField()}
        ${selectField({
    name: 'overlap', label: 'Keep the old secret valid for', value: '24h', choices: OVERLAPS,
  })}
        <button>Create new secret</button>`)}
    </section>
  </div>`;
}

function renderSwitch(request: PageRequest, { status }: Webhook, action: string): Html {
  const isActive = status === 'active';
  const wanted = isActive ? 'disabled' : 'active';
  return html`<section class="card" aria-labelledby="switch">
    <h2 id="switch">${isActive ? 'Disable' : 'Enable'}</h2>
    <p>${isActive ? 'Nothing is sent until you enable it. Then delivery resumes where it stopped.'
    : 'Delivery resumes where it stopped. Changes since then are sent.'}</p>
    ${postForm(request, action, html`<input type="hidden" name="status" value="${wanted}">
      <button>${isActive ? 'Disable' : 'Enable'}</button>`)}
  </section>`;
}
