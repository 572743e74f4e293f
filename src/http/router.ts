/**
 * Finds the route for a method and a path. A path is matched segment by segment; a segment in
 * braces (`/products/{id}`) takes one segment, percent-decoded. HEAD is answered wherever GET is.
 */
import { AppError } from '../domain/error.ts';

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
  readonly segments: readonly string[];
  readonly routes: ByMethod<Route>;
}

export class Router<Route extends RoutePattern> {
  /** Paths without parameters, by their whole text. */
  readonly #literal = new Map<string, ByMethod<Route>>();
  readonly #patterns: Pattern<Route>[] = [];

  constructor(routes: readonly Route[]) {
    for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
      const byMethod = new Map(group.map((route) => [route.method, route]));
      const get = byMethod.get('GET');
      if (get) byMethod.set('HEAD', get);
      if (path.includes('{')) this.#patterns.push({ segments: path.split('/'), routes: byMethod });
      else this.#literal.set(path, byMethod);
    }
  }

  /** @throws AppError `not_found`, `method_not_allowed` */
  find(method: string, path: string): Match<Route> {
    const literal = this.#literal.get(path);
    if (literal) return { route: pick(literal, method), parameters: {} };
    const segments = path.split('/');
    for (const pattern of this.#patterns) {
      const parameters = matchSegments(pattern.segments, segments);
      if (parameters) return { route: pick(pattern.routes, method), parameters };
    }
    throw new AppError('not_found', 'There is nothing at this path. Look for a misspelling.');
  }
}

function pick<Route>(routes: ByMethod<Route>, method: string): Route {
  const route = routes.get(method);
  if (route) return route;
  const allow = [...routes.keys()].sort();
  throw new AppError('method_not_allowed', `This path answers ${allow.join(', ')}.`, { allow });
}

function matchSegments(
  pattern: readonly string[], segments: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const actual = segments[index] ?? '';
    if (!expected.startsWith('{')) {
      if (actual !== expected) return undefined;
      continue;
    }
    const value = decodeSegment(actual);
    if (!value) return undefined;
    parameters[expected.slice(1, -1)] = value;
  }
  return parameters;
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined; // no path of ours is spelled so
    throw error;
  }
}
