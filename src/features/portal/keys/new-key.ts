/** Shows a new key once, with commands that are ready to run. */
import type { ApiKeySecret } from '../../../domain/access/api-key.ts';
import { type Scope, SCOPES } from '../../../domain/access/caller.ts';
import { card, copyable } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { findRoute, formatCurl } from '../html/curl.ts';
import type { AnonymousPageRequest, Portal } from '../route.ts';

const EXAMPLES_SHOWN = 2;
/** Example operations, one per scope. */
const EXAMPLES = ['createProduct', 'listProducts', 'syncStock', 'listChanges', 'listWebhooks'];

export function renderNewKey(
  { base }: Pick<AnonymousPageRequest, 'base'>, portal: Portal, secret: ApiKeySecret,
  scopes: readonly Scope[] = SCOPES,
): Html {
  const examples = EXAMPLES.flatMap((id) => findRoute(portal, id) ?? [])
    .filter(({ scope }) => scope !== undefined && scopes.includes(scope));
  return card('new-key', 'Your API key', html`<p>Copy it now. You won't see it again.</p>
    ${copyable('key', secret)}
    ${examples.slice(0, EXAMPLES_SHOWN).map((route) => html`<p>${route.operation.summary}:</p>
      ${copyable(route.operation.id, formatCurl(route, base.url, secret))}`)}`);
}
