/**
 * SQL as a tree of tokens: what stands between parentheses, and between CASE and END, is one node.
 * Enough for the statements of this project on SQLite and PostgreSQL; it is no grammar.
 */

/** A name with its qualifier (`p.seller_id`), a parameter, a literal or an operator; or a group. */
export type SqlNode = string | SqlGroup;

interface SqlGroup {
  readonly kind: 'parentheses' | 'case';
  readonly nodes: readonly SqlNode[];
}

/** Comments and casts (`::bigint[]`) are left out: they change no condition. */
const TOKEN = new RegExp([
  /--[^\n]*/, /::\s*\w+(?:\[\])?/,
  /(?<token>'(?:[^']|'')*'|"[^"]*"|[:$?]\w+|\?|\d[\d.]*)/,
  /(?<operator><>|!=|<=|>=|->>?|\|\||[-+*/%=<>,()[\];~&|])/,
  /(?<name>[A-Za-z_]\w*(?:\s*\.\s*(?:\w+|\*))?)/,
].map(({ source }) => source).join('|'), 'g');
const KEYWORDS = new Set(['ALL', 'AND', 'AS', 'BETWEEN', 'BY', 'CASE', 'CONFLICT', 'CROSS',
  'DELETE', 'DISTINCT', 'DO', 'END', 'EXCEPT', 'FOR', 'FROM', 'FULL', 'GROUP', 'HAVING', 'IN',
  'INDEXED', 'INNER', 'INSERT', 'INTERSECT', 'INTO', 'JOIN', 'LATERAL', 'LEFT', 'LIMIT',
  'MATERIALIZED', 'NOT', 'OFFSET', 'ON', 'OR', 'ORDER', 'OUTER', 'RECURSIVE', 'RETURNING', 'RIGHT',
  'SELECT', 'SET', 'UNION', 'UPDATE', 'USING', 'VALUES', 'WHERE', 'WITH']);
const CLOSERS: Readonly<Record<string, string>> = { '(': ')', CASE: 'END' };

/**
 * Keywords are upper case. A `?` without a number becomes `?1`, `?2`, ... by its place.
 * @throws Error if a group does not end
 */
export function parseSql(text: string): readonly SqlNode[] {
  let questionMarks = 0;
  const tokens = [...text.matchAll(TOKEN)].flatMap(({ groups = {} }) => {
    const { token, operator, name } = groups;
    if (token === '?') {
      questionMarks += 1;
      return [`?${questionMarks}`];
    }
    const upper = name?.toUpperCase() ?? '';
    return token ?? operator ?? (KEYWORDS.has(upper) ? upper : name?.replaceAll(/\s/g, '')) ?? [];
  });
  const { nodes, end } = readNodes(tokens, 0, undefined);
  if (end !== tokens.length) throw new Error(`An unexpected ${tokens[end]} in ${text}`);
  return nodes;
}

function readNodes(tokens: readonly string[], start: number, closer: string | undefined) {
  const nodes: SqlNode[] = [];
  let end = start;
  for (; end < tokens.length; end += 1) {
    const token = tokens[end] ?? '';
    if (token === closer || token === ')' || token === 'END') break;
    const inner = CLOSERS[token];
    if (inner === undefined) {
      nodes.push(token);
    } else {
      const group = readNodes(tokens, end + 1, inner);
      if (tokens[group.end] !== inner) throw new Error(`A ${token} without ${inner}`);
      nodes.push({ kind: inner === ')' ? 'parentheses' : 'case', nodes: group.nodes });
      ({ end } = group);
    }
  }
  return { nodes, end };
}

/** The parts between separators such as `,` or `AND`; the AND of a BETWEEN separates nothing. */
export function split(
  nodes: readonly SqlNode[], ...separators: readonly string[]
): readonly (readonly SqlNode[])[] {
  const parts: SqlNode[][] = [[]];
  let isBetween = false;
  for (const node of nodes) {
    const isBound = node === 'AND' && isBetween;
    if (node === 'BETWEEN' || node === 'AND') isBetween = node === 'BETWEEN';
    if (typeof node === 'string' && separators.includes(node) && !isBound) parts.push([]);
    else parts.at(-1)?.push(node);
  }
  return parts;
}

/** The nodes between parentheses; undefined for anything else. */
export function readParentheses(node: SqlNode | undefined): readonly SqlNode[] | undefined {
  return typeof node === 'object' && node.kind === 'parentheses' ? node.nodes : undefined;
}

/** The query between parentheses: a sub-select, or rows; undefined for anything else. */
export function readQuery(node: SqlNode | undefined): readonly SqlNode[] | undefined {
  const nodes = readParentheses(node);
  const [first] = nodes ?? [];
  const isQuery = first === 'SELECT' || first === 'WITH' || first === 'VALUES'
    || first === 'INSERT' || first === 'UPDATE' || first === 'DELETE';
  const isNested = nodes?.length === 1 && readQuery(first) !== undefined;
  return isQuery || isNested ? nodes : undefined;
}

/** What follows each of the keywords up to the next of them, by keyword; the first as ''. */
export function readClauses(
  nodes: readonly SqlNode[], ...keywords: readonly string[]
): Readonly<Record<string, readonly SqlNode[]>> {
  const clauses: Record<string, SqlNode[]> = { '': [] };
  let name = '';
  for (const node of nodes) {
    if (typeof node === 'string' && keywords.includes(node) && clauses[node] === undefined) {
      name = node;
      clauses[name] = [];
    } else {
      clauses[name]?.push(node);
    }
  }
  return clauses;
}
