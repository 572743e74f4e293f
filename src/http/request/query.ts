/** Parses query strings. Rejects unknown and repeated parameters. */
import { AppError, type Issue } from '../../domain/error.ts';
import { ISSUES_PER_RESPONSE_LIMIT } from '../../domain/limits.ts';

export type Query = ReadonlyMap<string, string>;

const EMPTY: Query = new Map();

/**
 * Parses the text after the `?` as `application/x-www-form-urlencoded` (WHATWG URL, section 5.1).
 * The member names of `parameters` are the allowed parameters; that of a family ends with `.*`.
 * @throws AppError `invalid_query` listing every unknown and repeated parameter
 */
export function parseQuery(text: string, parameters: object): Query {
  if (text === '') return EMPTY;
  assertDecodable(text);
  const query = new Map<string, string>();
  const issues: Issue[] = [];
  for (const [parameter, value] of new URLSearchParams(`?${text}`)) {
    if (!Object.hasOwn(parameters, parameter) && !Object.hasOwn(parameters, familyOf(parameter))) {
      const names = Object.keys(parameters).join(', ') || 'none';
      const detail = `Is not a parameter of this path. Its parameters: ${names}.`;
      issues.push({ parameter, code: 'unknown', detail });
    } else if (query.has(parameter)) {
      issues.push({ parameter, code: 'duplicate', detail: 'Is repeated. Send it once.' });
    }
    query.set(parameter, value);
  }
  if (issues.length > 0) throw invalidQuery(issues.slice(0, ISSUES_PER_RESPONSE_LIMIT));
  return query;
}

/** The name of a parameter in a table that has all of its kind: `color.*` for `color.wall`. */
export function familyOf(parameter: string): string {
  const dot = parameter.indexOf('.');
  return dot < 0 ? parameter : `${parameter.slice(0, dot)}.*`;
}

/** URLSearchParams accepts anything, and replaces invalid bytes with U+FFFD. */
function assertDecodable(text: string): void {
  try {
    decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    const hint = 'Percent-encode it as UTF-8; % itself is %25.';
    throw new AppError('invalid_query', `The query is malformed. ${hint}`);
  }
}

export function invalidQuery(issues: readonly Issue[]): AppError {
  const names = new Set(issues.map(({ parameter }) => parameter));
  const list = [...names].map((name) => JSON.stringify(name)).join(', ');
  return new AppError('invalid_query', `Correct or omit ${list}.`, { issues });
}
