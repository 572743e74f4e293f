/**
 * Whether every reference of a statement to a table with rows of sellers is restricted to the
 * caller's seller: by an equation that holds for every row of the reference (a conjunct of WHERE or
 * of an inner join's ON), directly or through other equations. An OR, a tautology, or a sub-select
 * without such an equation of its own restricts nothing.
 */
import {
  parseSql, readClauses, readParentheses, readQuery, split, type SqlNode,
} from './sql-tree.ts';

/** The column with the seller, by table. */
export type SellerColumns = ReadonlyMap<string, string>;

/** A column of a query's rows, and whether its value is always the caller's seller. */
interface Output {
  readonly name: string;
  readonly isSeller: boolean;
}

/** What a query can refer to outside itself. */
interface Context {
  /** Whether a parameter, or a column of an enclosing query, is the caller's seller. */
  isSeller(name: string): boolean;
  readonly columns: SellerColumns;
  /** Common table expressions. */
  readonly expressions: ReadonlyMap<string, readonly Output[]>;
  report(reference: string): void;
}

/** A table, a function or a query of a FROM clause. */
interface Source {
  readonly alias: string;
  /** The columns that can be the seller: that of a table, or all those of a query. */
  readonly outputs: readonly Output[];
  /** Undefined for a query or a function, which have nothing to restrict. */
  readonly table: string | undefined;
  readonly on: readonly SqlNode[];
  /** ON restricts only the rows of this source: what it is joined to is kept without a match. */
  readonly isLeft: boolean;
}

const CLAUSES = ['SELECT', 'FROM', 'WHERE', 'GROUP', 'HAVING', 'ORDER', 'LIMIT', 'OFFSET', 'FOR'];
const SET_OPERATORS = ['UNION', 'EXCEPT', 'INTERSECT'];
const JOINS = [',', 'JOIN', 'LEFT', 'CROSS', 'INNER'];
/** Stands for a value that is the caller's seller. */
const SELLER = '\0seller';

/**
 * The references that are not restricted, such as `product AS p`; `parameters` are those that are
 * bound to the caller's seller, such as `:sellerId`, `?1` or `$2`.
 */
export function findUnrestricted(
  text: string, parameters: ReadonlySet<string>, columns: SellerColumns,
): readonly string[] {
  const references: string[] = [];
  checkStatement(parseSql(text), {
    isSeller: (name) => name === SELLER || parameters.has(name),
    columns,
    expressions: new Map(),
    report: (reference) => { references.push(reference); },
  });
  return references;
}

/** The columns of its rows. */
function checkStatement(nodes: readonly SqlNode[], context: Context): readonly Output[] {
  const [first] = nodes;
  if (first === 'WITH') {
    const { rest, expressions } = readExpressions(nodes.slice(1), context);
    return checkStatement(rest, { ...context, expressions });
  }
  if (first === 'INSERT') return checkInsert(nodes, context);
  if (first === 'UPDATE' || first === 'DELETE') return checkChange(nodes, context);
  const [outputs = [], ...others] = split(nodes, ...SET_OPERATORS)
    .map((part) => checkSelect(part[0] === 'ALL' ? part.slice(1) : part, context));
  return intersect(outputs, others);
}

function intersect(
  outputs: readonly Output[], others: readonly (readonly Output[])[],
): readonly Output[] {
  return outputs.map(({ name, isSeller }, index) =>
    ({ name, isSeller: isSeller && others.every((other) => other[index]?.isSeller === true) }));
}

/** Common table expressions: `[RECURSIVE] name [(columns)] AS (query), ...`. */
function readExpressions(nodes: readonly SqlNode[], context: Context) {
  const expressions = new Map(context.expressions);
  let rest = nodes[0] === 'RECURSIVE' ? nodes.slice(1) : nodes;
  for (;;) {
    const queryIndex = rest.findIndex((node) => readQuery(node) !== undefined);
    const [name, columnList] = rest;
    const names = split(readParentheses(columnList) ?? [], ',').map(([column]) => column);
    const rename = (outputs: readonly Output[]): readonly Output[] => outputs.map((output, index) =>
      ({ ...output, name: String(names[index] ?? output.name) }));
    // The first part of a recursive expression does not refer to it; the others do.
    const query = readQuery(rest[queryIndex]) ?? [];
    const [start = []] = split(query, ...SET_OPERATORS);
    const silent = { ...context, expressions, report: () => {} };
    expressions.set(String(name), rename(checkStatement(start, silent)));
    expressions.set(String(name), rename(checkStatement(query, { ...context, expressions })));
    const next = rest.slice(queryIndex + 1);
    if (next[0] !== ',') return { rest: next, expressions };
    rest = next.slice(1);
  }
}

function checkSelect(nodes: readonly SqlNode[], context: Context): readonly Output[] {
  const query = nodes.length === 1 ? readQuery(nodes[0]) : undefined;
  if (query) return checkStatement(query, context);
  if (nodes[0] === 'VALUES') return checkRows(nodes.slice(1), context);
  const clauses = readClauses(nodes, ...CLAUSES);
  const sources = readSources(clauses['FROM'] ?? [], context);
  const scope = makeScope(sources, clauses['WHERE'] ?? [], context);
  for (const name of CLAUSES.filter((clause) => clause !== 'FROM')) {
    checkSubqueries(clauses[name] ?? [], scope);
  }
  const list = clauses['SELECT'] ?? [];
  return listOutputs(list[0] === 'DISTINCT' ? list.slice(1) : list, sources, scope);
}

/** Rows of VALUES: a column is the seller if it is in every row. */
function checkRows(nodes: readonly SqlNode[], context: Context): readonly Output[] {
  checkSubqueries(nodes, context);
  const rows = nodes.flatMap((node) => {
    const values = readParentheses(node);
    const outputs = split(values ?? [], ',').map((value, index) =>
      ({ name: `column${index + 1}`, isSeller: isSimple(value) && context.isSeller(value[0]) }));
    return values ? [outputs] : [];
  });
  return intersect(rows[0] ?? [], rows.slice(1));
}

function isSimple(nodes: readonly SqlNode[]): nodes is readonly [string] {
  return nodes.length === 1 && typeof nodes[0] === 'string';
}

/** UPDATE and DELETE. */
function checkChange(nodes: readonly SqlNode[], context: Context): readonly Output[] {
  const isUpdate = nodes[0] === 'UPDATE';
  const clauses = readClauses(nodes.slice(isUpdate ? 1 : 2), 'SET', 'FROM', 'USING', 'WHERE',
    'RETURNING');
  const target = readSources(clauses[''] ?? [], context);
  const others = readSources(clauses['FROM'] ?? clauses['USING'] ?? [], context);
  const sources = [...target, ...others];
  const scope = makeScope(sources, clauses['WHERE'] ?? [], context);
  for (const name of ['SET', 'WHERE', 'RETURNING']) checkSubqueries(clauses[name] ?? [], scope);
  for (const [column] of split(clauses['SET'] ?? [], ',')) {
    const [{ table, outputs } = { table: undefined, outputs: [] }] = target;
    if (table !== undefined && outputs.some(({ name }) => name === column)) {
      context.report(`${table}: SET ${String(column)}`);
    }
  }
  return listOutputs(clauses['RETURNING'] ?? [], sources, scope);
}

/** The seller of each row must be the caller's, and the conflict within that seller's rows. */
function checkInsert(nodes: readonly SqlNode[], context: Context): readonly Output[] {
  const start = nodes.indexOf('INTO') + 1;
  const table = String(nodes[start]);
  const alias = nodes[start + 1] === 'AS' ? String(nodes[start + 2]) : table;
  const listIndex = start + (nodes[start + 1] === 'AS' ? 3 : 1);
  const column = context.columns.get(table);
  const { '': rows = [], ON: conflict = [], RETURNING: returning = [] } =
    readClauses(nodes.slice(listIndex + 1), 'ON', 'RETURNING');
  const outputs = checkStatement(rows, context);
  if (column === undefined) return [];
  const columns = split(readParentheses(nodes[listIndex]) ?? [], ',').map(([name]) => name);
  if (outputs[columns.indexOf(column)]?.isSeller !== true) context.report(`INTO ${table}`);
  const unique = readParentheses(conflict[1]);
  if (unique && !unique.includes(column)) context.report(`${table}: ON CONFLICT`);
  const isSeller = [{ name: column, isSeller: true }];
  const inserted: Source =
    { alias, outputs: isSeller, table: undefined, on: [], isLeft: false };
  const scope = makeScope([inserted, { ...inserted, alias: 'excluded' }], [], context);
  checkSubqueries(conflict, scope);
  return listOutputs(returning, [inserted], scope);
}

/** The sources of a FROM clause; its queries are checked. */
function readSources(nodes: readonly SqlNode[], context: Context): readonly Source[] {
  if (nodes.includes('RIGHT') || nodes.includes('FULL')) throw new Error('An unsupported join');
  const sources: Source[] = [];
  let part: SqlNode[] = [];
  let isLeft = false;
  const endPart = (): void => {
    if (part.length === 0) return;
    sources.push({ ...readSource(part, context), isLeft });
    part = [];
    isLeft = false;
  };
  for (const node of nodes) {
    if (typeof node === 'string' && JOINS.includes(node)) {
      endPart();
      isLeft ||= node === 'LEFT';
    } else {
      part.push(node);
    }
  }
  endPart();
  return sources;
}

/** `name [AS] alias ... [ON condition]`, `function(...) ...` or `(query) ...`. */
function readSource(part: readonly SqlNode[], context: Context): Omit<Source, 'isLeft'> {
  const { '': [first, ...rest] = [], ON: on = [] } = readClauses(part, 'ON');
  const query = readQuery(first);
  const isFunction = readParentheses(rest[0]) !== undefined;
  if (isFunction) checkSubqueries([rest[0] ?? ''], context);
  const words = isFunction ? rest.slice(1) : rest;
  const name = query ? '' : String(first);
  const named = words[0] === 'AS' ? words[1] : words[0];
  const hasAlias = typeof named === 'string' && /^[a-z]/.test(named);
  const alias = hasAlias ? named : name;
  if (query) return { alias, outputs: checkStatement(query, context), table: undefined, on };
  const expression = context.expressions.get(name);
  if (expression || isFunction) return { alias, outputs: expression ?? [], table: undefined, on };
  const column = context.columns.get(name);
  const outputs = column === undefined ? [] : [{ name: column, isSeller: false }];
  return { alias, outputs, table: column === undefined ? undefined : name, on };
}

/** Finds out which columns of the sources are the seller, and reports tables without one. */
function makeScope(
  sources: readonly Source[], where: readonly SqlNode[], outer: Context,
): Context {
  const restricted = new Set(sources.flatMap(({ alias, outputs }) =>
    outputs.filter(({ isSeller }) => isSeller).map(({ name }) => `${alias}.${name}`)));
  const scope: Context = {
    ...outer,
    isSeller(name) {
      const column = resolve(name, sources);
      return column === undefined ? outer.isSeller(name) : restricted.has(column);
    },
  };
  const equations = [
    ...listEquations(where, outer),
    ...sources.filter(({ isLeft }) => !isLeft).flatMap(({ on }) => listEquations(on, outer)),
  ];
  const ofLeftJoins = sources.filter(({ isLeft }) => isLeft).flatMap(({ alias, on }) =>
    listEquations(on, outer).map((equation) => ({ alias, equation })));
  const restrict = (name: string, other: string, alias?: string): void => {
    const column = resolve(name, sources);
    const isHere = column !== undefined && (alias === undefined || column.startsWith(`${alias}.`));
    if (isHere && scope.isSeller(other)) restricted.add(column);
  };
  for (let size = -1; size !== restricted.size;) {
    ({ size } = restricted);
    for (const [left, right] of equations) {
      restrict(left, right);
      restrict(right, left);
    }
    for (const { alias, equation: [left, right] } of ofLeftJoins) {
      restrict(left, right, alias);
      restrict(right, left, alias);
    }
  }
  for (const { on } of sources) checkSubqueries(on, scope);
  for (const { alias, table, outputs } of sources) {
    if (table !== undefined && !restricted.has(`${alias}.${outputs[0]?.name}`)) {
      outer.report(table === alias ? table : `${table} AS ${alias}`);
    }
  }
  return scope;
}

/** `alias.column` of a column that can be the seller; undefined if it is not of these sources. */
function resolve(name: string, sources: readonly Source[]): string | undefined {
  const [qualifier = '', column] = name.split('.');
  if (column !== undefined) {
    return sources.some(({ alias }) => alias === qualifier) ? name : undefined;
  }
  const owners = sources.filter(({ outputs }) => outputs.some((output) => output.name === name));
  // SQL rejects a name that two sources have, unless one of them has no such column.
  return owners.length === 0 ? undefined : `${owners.map(({ alias }) => alias).join('|')}.${name}`;
}

/** The equations that hold wherever a condition does. */
function listEquations(
  condition: readonly SqlNode[], context: Context,
): readonly (readonly [string, string])[] {
  if (condition.includes('OR')) return [];
  return split(condition, 'AND').flatMap((conjunct) => {
    const [left = '', operator, right] = conjunct;
    const inner = conjunct.length === 1 ? readParentheses(left) : undefined;
    if (inner) return listEquations(inner, context);
    if (conjunct.length !== 3 || (operator !== '=' && operator !== 'IN')) return [];
    const names = listValues([left], context);
    const values = listValues(right === undefined ? [] : [right], context);
    // A list of IN with several values is no equation.
    if (operator === 'IN' && !readQuery(right) && values.length !== 1) return [];
    return names.flatMap((name, index): readonly (readonly [string, string])[] => {
      const value = values[index];
      return name === undefined || value === undefined ? [] : [[name, value]];
    });
  });
}

/** The values of `a`, `(a, b)` or `(SELECT ...)`; undefined for those that are no simple name. */
function listValues(
  nodes: readonly SqlNode[], context: Context,
): readonly (string | undefined)[] {
  const [node] = nodes;
  const query = readQuery(node);
  if (query) {
    const outputs = checkStatement(query, { ...context, report: () => {} });
    return outputs.map(({ isSeller }) => (isSeller ? SELLER : undefined));
  }
  return split(readParentheses(node) ?? nodes, ',')
    .map((value) => (isSimple(value) ? value[0] : undefined));
}

/** The columns that a SELECT or RETURNING lists. */
function listOutputs(
  list: readonly SqlNode[], sources: readonly Source[], scope: Context,
): readonly Output[] {
  return split(list, ',').flatMap((item) => {
    const [value = ''] = item;
    const columns = sources.filter(({ alias }) => value === '*' || value === `${alias}.*`)
      .flatMap(({ alias, outputs }) => outputs.map(({ name }) =>
        ({ name, isSeller: scope.isSeller(`${alias}.${name}`) })));
    if (columns.length > 0) return columns;
    const isSeller = typeof value === 'string' && (item.length === 1 || item[1] === 'AS')
      && scope.isSeller(value);
    const name = String(item.at(-1)).replaceAll('"', '').replace(/^.*\./, '');
    return [{ name, isSeller }];
  });
}

/** Checks every query within these nodes, at any depth. */
function checkSubqueries(nodes: readonly SqlNode[], scope: Context): void {
  for (const node of nodes) {
    const query = readQuery(node);
    if (query) checkStatement(query, scope);
    else if (typeof node !== 'string') checkSubqueries(node.nodes, scope);
  }
}
