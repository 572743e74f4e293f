/** Lines to copy; the button that does so is there with scripts. */
import { html, type Html } from './html.ts';

/** `id` tells it from the others of the page. */
export function copyable(id: string, text: string): Html {
  return html`<div class="copyable"><pre id="copy-${id}" tabindex="0">${text}</pre>
    <button type="button" class="small" data-copy="copy-${id}" hidden>Copy</button></div>`;
}
