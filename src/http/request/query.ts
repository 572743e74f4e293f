/** The query of a request: only known parameters, each at most once; the rest is refused. */
import { AppError, type Issue } from '../../domain/error.ts';
import { ISSUES_PER_RESPONSE_LIMIT } from '../../domain/limits.ts';

export type Query = ReadonlyMap<string, string>;

const EMPTY: Query = new Map();

/**
 * Parses what follows the `?` as `application/x-www-form-urlencoded` (WHATWG URL, section 5.1).
 * @throws AppError `invalid_query` naming every unknown and repeated parameter
 */
export function parseQuery(text: string, known: readonly { readonly name: string }[]): Query {
  if (text === '') return EMPTY;
  assertDecodable(text);
  const query = new Map<string, string>();
  const issues: Issue[] = [];
  for (const [parameter, value] of new URLSearchParams(`?${text}`)) {
    if (!known.some(({ name }) => name === parameter)) {
      const names = known.map(({ name }) => name).join(', ') || 'none';
      const detail = `Is not a parameter here; these are: ${names}.`;
      issues.push({ parameter, code: 'unknown', detail });
    } else if (query.has(parameter)) {
      issues.push({ parameter, code: 'duplicate', detail: 'May be given once.' });
    }
    query.set(parameter, value);
  }
  if (issues.length > 0) throw invalidQuery(issues.slice(0, ISSUES_PER_RESPONSE_LIMIT));
  return query;
}

/** URLSearchParams would take anything, and make U+FFFD of what it cannot read. */
function assertDecodable(text: string): void {
  try {
    decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    const hint = 'Percent-encode it as UTF-8: % itself is %25.';
    throw new AppError('invalid_query', `The query cannot be read. ${hint}`);
  }
}

/** The error for faulty parameters. */
export function invalidQuery(issues: readonly Issue[]): AppError {
  const names = new Set(issues.map(({ parameter }) => parameter));
  const which = [...names].map((name) => JSON.stringify(name)).join(', ');
  return new AppError('invalid_query', `Correct or leave out ${which}.`, { issues });
}
