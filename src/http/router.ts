/**
 * Finds the route for a request target and a method. A segment in braces (`/products/{id}`) matches
 * one segment of the path, percent-decoded. HEAD is answered wherever GET is.
 */
import { AppError } from '../domain/error.ts';

/** A request target (RFC 9112 section 3.2.1), below the path of the base URL. */
export interface Target {
  readonly path: string;
  /** What follows the `?`. */
  readonly query: string;
}

/** A target that no route matches. */
export const OUTSIDE: Target = { path: '', query: '' };

export const PATH_NOT_FOUND = 'There is nothing at this path. Check its spelling.';

export interface RoutePattern {
  readonly method: string;
  readonly path: string;
}

interface Match<Route> {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

type ByMethod<Route> = Map<string, Route>;

interface Pattern<Route> {
  readonly path: RegExp;
  readonly names: readonly string[];
  readonly routes: ByMethod<Route>;
}

export class Router<Route extends RoutePattern> {
  /** Paths without parameters. */
  readonly #literal = new Map<string, ByMethod<Route>>();
  readonly #patterns: Pattern<Route>[] = [];

  constructor(routes: readonly Route[]) {
    for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
      const byMethod = new Map(group.map((route) => [route.method, route]));
      const get = byMethod.get('GET');
      if (get) byMethod.set('HEAD', get);
      if (path.includes('{')) this.#patterns.push({ ...compile(path), routes: byMethod });
      else this.#literal.set(path, byMethod);
    }
  }

  /** @throws AppError `not_found`, `method_not_allowed` */
  find(method: string, path: string): Match<Route> {
    const found = this.#findPath(path);
    if (!found) throw new AppError('not_found', PATH_NOT_FOUND);
    return { route: pick(found.routes, method), parameters: found.parameters };
  }

  /** Sorted; empty if the path does not exist. */
  findMethods(path: string): readonly string[] {
    const found = this.#findPath(path);
    return found ? listMethods(found.routes) : [];
  }

  #findPath(path: string): FoundPath<Route> | undefined {
    const literal = this.#literal.get(path);
    if (literal) return { routes: literal, parameters: {} };
    for (const { path: pattern, names, routes } of this.#patterns) {
      const found = pattern.exec(path);
      const parameters = found && readParameters(names, found);
      if (parameters) return { routes, parameters };
    }
    return undefined;
  }
}

/** Splits a URL into path and query; undefined if it is not below `prefix`. */
export function parseTarget(url: string, prefix: string): Target | undefined {
  if (!url.startsWith(`${prefix}/`)) return undefined;
  const mark = url.indexOf('?');
  if (mark < 0) return { path: url.slice(prefix.length), query: '' };
  return { path: url.slice(prefix.length, mark), query: url.slice(mark + 1) };
}

/** @param methods As in the header `Allow`. */
export function methodNotAllowedDetail(methods: string): string {
  return `This path answers ${methods}.`;
}

interface FoundPath<Route> {
  readonly routes: ByMethod<Route>;
  readonly parameters: Readonly<Record<string, string>>;
}

function compile(path: string): Pick<Pattern<unknown>, 'path' | 'names'> {
  const names: string[] = [];
  const segments = path.split('/').map((segment) => {
    if (!segment.startsWith('{')) return RegExp.escape(segment);
    names.push(segment.slice(1, -1));
    return '([^/]+)';
  });
  return { path: new RegExp(`^${segments.join('/')}$`), names };
}

function pick<Route>(routes: ByMethod<Route>, method: string): Route {
  const route = routes.get(method);
  if (route) return route;
  const allow = listMethods(routes);
  throw new AppError('method_not_allowed', methodNotAllowedDetail(allow.join(', ')), { allow });
}

function listMethods(routes: ByMethod<unknown>): readonly string[] {
  return [...routes.keys()].sort();
}

/** Undefined if a segment is not valid percent-encoding. */
function readParameters(
  names: readonly string[], [, ...segments]: RegExpExecArray,
): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = segment.includes('%') ? decodeSegment(segment) : segment;
    if (value === undefined) return undefined;
    parameters[names[index] ?? ''] = value;
  }
  return parameters;
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined; // no route has such a path
    throw error;
  }
}
