/** What was just done, as the next page says it: by a word in its address, and a text for each. */
import { notice } from '../forms/fields.ts';
import { type Content, html } from './html.ts';
import type { AnonymousPageRequest } from '../route.ts';

/** Nothing for a word that is none of these. */
export function flashNotice(
  { query }: Pick<AnonymousPageRequest, 'query'>, texts: ReadonlyMap<string, string>,
): Content {
  const text = texts.get(query.get('done') ?? '');
  return text !== undefined && notice(html`<p>${text}</p>`);
}
