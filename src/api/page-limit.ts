/** How many items a page is to have, for lists that have no other conditions. */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from '../config.ts';
import { invalidQuery, type Query } from '../http/query.ts';

/** @throws AppError `invalid_query` */
export function readLimit(query: Query): number {
  const text = query.get('limit');
  if (text === undefined) return PAGE_SIZE_DEFAULT;
  const limit = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (limit >= 1 && limit <= PAGE_SIZE_LIMIT) return limit;
  const detail = `Must be a whole number from 1 to ${PAGE_SIZE_LIMIT}.`;
  throw invalidQuery([{ parameter: 'limit', code: 'range', detail }]);
}
