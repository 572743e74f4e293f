/** A key that was just made: shown this once, with lines to try it that work as they are. */
import { CHANGES, PRODUCTS, STOCK, WEBHOOKS } from '../api/paths.ts';
import type { ApiKeySecret } from '../domain/api-key.ts';
import { type Scope, SCOPES } from '../domain/scope.ts';
import { html, type Html } from './html.ts';
import type { OpenVisit } from './route.ts';

/** Of what the key may do, two lines. */
const LINES_SHOWN = 2;

export function renderNewKey(
  { site }: Pick<OpenVisit, 'site'>, secret: ApiKeySecret, scopes: readonly Scope[] = SCOPES,
): Html {
  const lines = describeTrials(site.url, secret).filter(({ scope }) => scopes.includes(scope));
  return html`<section class="card" aria-labelledby="new-key">
    <h2 id="new-key">Your API key</h2>
    <p>Keep it now: it is shown this once, and nobody can read it again.</p>
    ${copyable('key', secret)}
    ${lines.slice(0, LINES_SHOWN).map(({ id, title, line }) => html`
      <p>${title}:</p>
      ${copyable(id, line)}`)}
  </section>`;
}

interface Trial {
  readonly scope: Scope;
  readonly id: string;
  readonly title: string;
  readonly line: string;
}

/** Something to try for each scope. */
function describeTrials(url: string, secret: ApiKeySecret): readonly Trial[] {
  const call = (path: string): string => `curl '${url}${path}' \\
  -H 'x-api-key: ${secret}'`;
  const send = (path: string, body: unknown): string => `${call(path)} \\
  -H 'content-type: application/json' \\
  -d '${JSON.stringify(body)}'`;
  const product = { name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 };
  const stock = { changes: [{ sku: 'MUG-1', adjust: -2, reason: 'sold' }] };
  return [
    {
      scope: 'products:write', id: 'create', title: 'Create a product with it',
      line: send(PRODUCTS, product),
    },
    { scope: 'products:read', id: 'list', title: 'List your products', line: call(PRODUCTS) },
    {
      scope: 'stock:write', id: 'stock', title: 'Take two of a product from stock',
      line: send(STOCK, stock),
    },
    {
      scope: 'changes:read', id: 'changes', title: 'Read what has changed', line: call(CHANGES),
    },
    { scope: 'webhooks:write', id: 'hooks', title: 'List your webhooks', line: call(WEBHOOKS) },
  ];
}

/** Lines to copy; the button that does so is there with scripts. */
export function copyable(id: string, text: string): Html {
  return html`<div class="copyable"><pre id="copy-${id}" tabindex="0">${text}</pre>
    <button type="button" class="small" data-copy="copy-${id}" hidden>Copy</button></div>`;
}
