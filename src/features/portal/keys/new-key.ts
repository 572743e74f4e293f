/** A new key, shown once, with commands that use it and work as they are. */
import { PRODUCTS, STOCK } from '../../../api/route.ts';
import type { ApiKeySecret } from '../../../domain/access/api-key.ts';
import { type Scope, SCOPES } from '../../../domain/access/caller.ts';
import { copyable } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import type { AnonymousPageRequest } from '../route.ts';

const EXAMPLES_SHOWN = 2;
const SAMPLE = { name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 };

export function renderNewKey(
  { base }: Pick<AnonymousPageRequest, 'base'>, secret: ApiKeySecret,
  scopes: readonly Scope[] = SCOPES,
): Html {
  const examples = listExamples(base.url, secret).filter(({ scope }) => scopes.includes(scope));
  return html`<section class="card" aria-labelledby="new-key">
    <h2 id="new-key">Your API key</h2>
    <p>Copy it now. You won't see it again.</p>
    ${copyable('key', secret)}
    ${examples.slice(0, EXAMPLES_SHOWN).map(({ id, title, command }) => html`
      <p>${title}:</p>
      ${copyable(id, command)}`)}
  </section>`;
}

/** A command that creates a product; `key` is a secret or a placeholder. */
export function formatCreation(url: string, key: string): string {
  return formatCurl(url, PRODUCTS, key, SAMPLE);
}

interface Example {
  readonly scope: Scope;
  readonly id: string;
  readonly title: string;
  readonly command: string;
}

/** One for each scope. */
function listExamples(url: string, key: ApiKeySecret): readonly Example[] {
  const get = (path: string): string => formatCurl(url, path, key);
  const stock = { changes: [{ sku: SAMPLE.sku, adjust: -2, reason: 'sold' }] };
  return [
    {
      scope: 'products:write', id: 'create', title: 'Create a product',
      command: formatCreation(url, key),
    },
    { scope: 'products:read', id: 'list', title: 'List your products', command: get(PRODUCTS) },
    {
      scope: 'stock:write', id: 'stock', title: 'Remove two units of a product from stock',
      command: formatCurl(url, STOCK, key, stock),
    },
    {
      scope: 'changes:read', id: 'changes', title: 'List changes', command: get('/api/v1/changes'),
    },
    {
      scope: 'webhooks:write', id: 'hooks', title: 'List your webhooks',
      command: get('/api/v1/webhooks'),
    },
  ];
}

function formatCurl(url: string, path: string, key: string, body?: object): string {
  const fields = [`x-api-key: ${key}`, ...body ? ['content-type: application/json'] : []];
  const lines = [`curl '${url}${path}'`, ...fields.map((field) => `-H '${field}'`)];
  return [...lines, ...body ? [`-d '${JSON.stringify(body)}'`] : []].join(' \\\n  ');
}
