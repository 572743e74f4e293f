/** A key that was just made: shown this once, with lines to try it that work as they are. */
import { PRODUCTS } from '../api/paths.ts';
import type { ApiKeySecret } from '../domain/api-key.ts';
import { html, type Html } from './html.ts';
import type { OpenVisit } from './route.ts';

export function renderNewKey({ site }: Pick<OpenVisit, 'site'>, secret: ApiKeySecret): Html {
  const address = `${site.url}${PRODUCTS}`;
  const product = JSON.stringify({
    name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40,
  });
  return html`<section class="card" aria-labelledby="new-key">
    <h2 id="new-key">Your API key</h2>
    <p>Keep it now: it is shown this once, and nobody can read it again.</p>
    ${copyable('key', secret)}
    <p>Create a product with it:</p>
    ${copyable('create', `curl '${address}' -H 'x-api-key: ${secret}' \\
  -H 'content-type: application/json' \\
  -d '${product}'`)}
    <p>And list your products:</p>
    ${copyable('list', `curl '${address}' -H 'x-api-key: ${secret}'`)}
  </section>`;
}

/** Lines to copy; the button that does so is there with scripts. */
export function copyable(id: string, text: string): Html {
  return html`<div class="copyable"><pre id="copy-${id}" tabindex="0">${text}</pre>
    <button type="button" class="small" data-copy="copy-${id}" hidden>Copy</button></div>`;
}
