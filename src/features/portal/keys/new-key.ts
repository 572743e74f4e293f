/** A key that was just made: shown this once, with lines to try it that work as they are. */
import { PRODUCTS, STOCK } from '../../../api/paths.ts';
import type { ApiKeySecret } from '../../../domain/access/api-key.ts';
import { type Scope, SCOPES } from '../../../domain/access/caller.ts';
import { copyable } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import type { AnonymousPageRequest } from '../route.ts';

/** Of what the key may do, two lines. */
const LINES_SHOWN = 2;
const SAMPLE = { name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 };

export function renderNewKey(
  { base }: Pick<AnonymousPageRequest, 'base'>, secret: ApiKeySecret,
  scopes: readonly Scope[] = SCOPES,
): Html {
  const lines = describeTrials(base.url, secret).filter(({ scope }) => scopes.includes(scope));
  return html`<section class="card" aria-labelledby="new-key">
    <h2 id="new-key">Your API key</h2>
    <p>Keep it now: it is shown this once, and nobody can read it again.</p>
    ${copyable('key', secret)}
    ${lines.slice(0, LINES_SHOWN).map(({ id, title, line }) => html`
      <p>${title}:</p>
      ${copyable(id, line)}`)}
  </section>`;
}

/** A line that creates a product; `key` is a secret, or what stands for one. */
export function formatCreation(url: string, key: string): string {
  return formatCall(url, PRODUCTS, key, SAMPLE);
}

interface Trial {
  readonly scope: Scope;
  readonly id: string;
  readonly title: string;
  readonly line: string;
}

/** Something to try for each scope. */
function describeTrials(url: string, secret: ApiKeySecret): readonly Trial[] {
  const call = (path: string): string => formatCall(url, path, secret);
  const stock = { changes: [{ sku: SAMPLE.sku, adjust: -2, reason: 'sold' }] };
  return [
    {
      scope: 'products:write', id: 'create', title: 'Create a product with it',
      line: formatCreation(url, secret),
    },
    { scope: 'products:read', id: 'list', title: 'List your products', line: call(PRODUCTS) },
    {
      scope: 'stock:write', id: 'stock', title: 'Take two of a product from stock',
      line: formatCall(url, STOCK, secret, stock),
    },
    {
      scope: 'changes:read', id: 'changes', title: 'Read what has changed',
      line: call('/api/v1/changes'),
    },
    {
      scope: 'webhooks:write', id: 'hooks', title: 'List your webhooks',
      line: call('/api/v1/webhooks'),
    },
  ];
}

function formatCall(url: string, path: string, key: string, body?: object): string {
  const fields = [`x-api-key: ${key}`, ...body ? ['content-type: application/json'] : []];
  const lines = [`curl '${url}${path}'`, ...fields.map((field) => `-H '${field}'`)];
  return [...lines, ...body ? [`-d '${JSON.stringify(body)}'`] : []].join(' \\\n  ');
}
