/** Pages of a list, the field that leads from one to the next (RFC 8288), and lists without. */
import { invalidQuery, type Query } from '../http/request/query.ts';

/** Nothing where there is no next page. */
export function formatNextLink(
  path: string, query: Query, limit: number, cursor: string | undefined,
): { readonly link?: string } {
  if (cursor === undefined) return {};
  const next = new URLSearchParams([...query]);
  next.set('limit', String(limit));
  next.set('cursor', cursor);
  return { link: `<${path}?${next}>; rel="next"` };
}

/** An export has no pages. @throws AppError `invalid_query` where one is asked for */
export function rejectPagingParameters(query: Query): void {
  const unused = ['limit', 'cursor'].filter((parameter) => query.has(parameter));
  if (unused.length === 0) return;
  const detail = 'Is not for an export, which is whole.';
  throw invalidQuery(unused.map((parameter) => ({ parameter, code: 'mismatch', detail })));
}
