/**
 * Finds the route for a request target and method. A segment in braces (`/products/{id}`) matches
 * one percent-decoded path segment. HEAD works wherever GET does.
 */
import { AppError } from '../domain/error.ts';

export const PATH_NOT_FOUND = 'There is nothing at this path. Check its spelling.';

export interface RoutePattern {
  readonly method: string;
  readonly path: string;
}

type ByMethod<Route> = ReadonlyMap<string, Route>;

interface FoundPath<Route> {
  readonly routes: ByMethod<Route>;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A path with parameters. */
interface Pattern<Route> {
  /** What precedes the first parameter: most paths that do not match differ there. */
  readonly start: string;
  readonly pattern: RegExp;
  readonly routes: ByMethod<Route>;
}

export class Router<Route extends RoutePattern> {
  /** Paths without parameters. */
  readonly #literal = new Map<string, FoundPath<Route>>();
  readonly #patterns: Pattern<Route>[] = [];

  constructor(routes: readonly Route[]) {
    for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
      const byMethod = new Map(group.map((route) => [route.method, route]));
      const get = byMethod.get('GET');
      if (get) byMethod.set('HEAD', get);
      const [start = path] = path.split('{', 1);
      if (start !== path) this.#patterns.push({ start, pattern: compile(path), routes: byMethod });
      else this.#literal.set(path, { routes: byMethod, parameters: {} });
    }
  }

  /** @throws AppError `not_found`, `method_not_allowed` */
  find(method: string, path: string): Omit<FoundPath<Route>, 'routes'> & { readonly route: Route } {
    const match = this.#findPath(path);
    if (!match) throw new AppError('not_found', PATH_NOT_FOUND);
    const route = match.routes.get(method);
    if (route) return { route, parameters: match.parameters };
    const allow = listMethods(match.routes);
    throw new AppError('method_not_allowed', methodNotAllowedDetail(allow.join(', ')), { allow });
  }

  /** Sorted; empty if the path does not exist. */
  findMethods(path: string): readonly string[] {
    return listMethods(this.#findPath(path)?.routes ?? new Map());
  }

  #findPath(path: string): FoundPath<Route> | undefined {
    const literal = this.#literal.get(path);
    if (literal) return literal;
    for (const { start, pattern, routes } of this.#patterns) {
      const match = path.startsWith(start) ? pattern.exec(path) : undefined;
      const parameters = match?.groups && decodeSegments(match.groups);
      if (parameters) return { routes, parameters };
    }
    return undefined;
  }
}

/** @param methods As in the `Allow` header. */
export function methodNotAllowedDetail(methods: string): string {
  return `Allowed methods: ${methods}.`;
}

/** Each parameter becomes a named group. */
function compile(path: string): RegExp {
  const segments = path.split('/').map((segment) =>
    segment.startsWith('{') ? `(?<${segment.slice(1, -1)}>[^/]+)` : RegExp.escape(segment));
  return new RegExp(`^${segments.join('/')}$`);
}

function listMethods(routes: ByMethod<unknown>): readonly string[] {
  return [...routes.keys()].sort();
}

/** Undefined if a segment is not valid percent-encoding: no route has such a path. */
function decodeSegments(segments: Readonly<Record<string, string>>) {
  const parameters: Record<string, string> = {};
  try {
    for (const name in segments) {
      const segment = segments[name] ?? '';
      parameters[name] = segment.includes('%') ? decodeURIComponent(segment) : segment;
    }
    return parameters;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
