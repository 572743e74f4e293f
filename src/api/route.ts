/** What a route is, and what its handler is given. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import type { Scope } from '../domain/scope.ts';
import type { Cursors } from '../http/cursor.ts';
import type { PageCache } from '../http/page-cache.ts';
import type { Query } from '../http/query.ts';
import type { Reply } from '../http/reply.ts';
import type { RoutePattern } from '../http/router.ts';
import type { Store } from '../store/store.ts';

/** One request: authenticated, within its rate, allowed by its scope, its query checked. */
export interface Call {
  readonly caller: Caller;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
  /** Reads the body. @throws AppError `unsupported_media_type`, `body_too_large`, `invalid_json` */
  readJson(): Promise<unknown>;
}

/** What all requests share. */
export interface Services {
  readonly store: Store;
  readonly cursors: Cursors;
  readonly pages: PageCache;
  /** What stands before `/api` in the paths of this server: empty, or `/shop`. */
  readonly prefix: string;
}

export interface Route extends RoutePattern {
  readonly scope: Scope;
  /** The query parameters that it knows. */
  readonly query: readonly string[];
  readonly handle: (call: Call, services: Services) => Promise<Reply>;
}
