/** The paths of the portal, and types of its routes and of the requests that handlers receive. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Instances } from '../../api/instances.ts';
import type { Services } from '../../api/route.ts';
import type { OpenStream } from '../../api/streams.ts';
import type { Account, AccountReference, Role } from '../../domain/access/account.ts';
import type { Requester } from '../../domain/access/audit.ts';
import type { Passwords } from '../../domain/access/password.ts';
import type { Generation } from '../../domain/revision.ts';
import type { RequestRecord } from '../../http/request-record.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { RoutePattern, Router } from '../../http/router.ts';
import type { SignedInSession } from '../../store/account-store.ts';
import type { Assets } from './assets.ts';
import type { Form } from './forms/form.ts';
import type { makeFormatCache, Format } from './html/format.ts';
import type { Content } from './html/html.ts';
import type { PortalLimits } from './sign-in/rate-limits.ts';

/** Prefix of all portal paths. */
export const ROOT = '/portal';

export function isPortalPath(path: string): boolean {
  return path === '/' || path === ROOT || path.startsWith(`${ROOT}/`);
}

/** Whether this path is in `routes.ts`: the pages of a feature are missing without it. */
export function hasPage({ router }: Pick<Portal, 'router'>, path: string): boolean {
  const [method] = router.findMethods(path);
  return method !== undefined && router.find(method, path).route.path === path;
}

/** An element of a list of results. */
export type SearchResult = readonly [path: string, name: string, detail: Content];

/** The matches of one kind, up to a limit. */
export interface Matches<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  /** Why there are none now. */
  readonly note?: string;
}

/** Finds one kind of results. */
export interface Finder {
  readonly id: string;
  readonly title: string;
  /** The list that takes the text as its query `q`; otherwise the search lists more results. */
  readonly listPath?: string;
  find(
    request: PageRequest, portal: Portal, q: string, limit: number,
  ): Promise<Matches<SearchResult>>;
  /** What the whole text is the id of. */
  findNamed(request: PageRequest, portal: Portal, q: string): Promise<SearchResult | undefined>;
}

/** What the pages of a feature add to pages of others. */
export interface Addition {
  /** On the overview, above the rest. */
  readonly notice?: (request: PageRequest, portal: Portal) => Promise<Content>;
  /** In the results of the search. */
  readonly finder?: Finder;
}

/** Services that all pages share. */
export interface Portal extends Services {
  readonly router: Router<PageRoute>;
  readonly assets: Assets;
  readonly passwords: Passwords;
  readonly limits: PortalLimits;
  readonly findFormat: ReturnType<typeof makeFormatCache>;
  /** The navigation's entries, for accounts that may see their pages. */
  readonly sections:
    readonly { readonly path: string; readonly name: string; readonly role: Role }[];
  readonly additions: readonly Addition[];
  /** State that pages keep between requests, such as uploads; closed with the portal. */
  readonly pageInstances: Instances<Portal>;
  readonly uploadFolder: string;
  /** Whether anyone may create an account without an invitation. */
  readonly isRegistrationOpen: boolean;
  /** Whether it runs in another program, which may have pages of its own at the same origin. */
  readonly isEmbedded: boolean;
  readonly clock: () => number;
}

/** The server as the browser sees it. */
export interface PortalBase {
  /** Such as `https://shop.example`. */
  readonly origin: string;
  /** The origin, and the path that precedes `/portal`. */
  readonly url: string;
}

/** A page request from any client, signed in or not. */
export interface AnonymousPageRequest {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: RequestRecord;
  readonly headers: IncomingHttpHeaders;
  /** Path of the page, below `/portal`. */
  readonly path: string;
  /** Path parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Pages ignore unknown query parameters. */
  readonly query: Form;
  readonly base: PortalBase;
  /** What precedes `/portal` and `/api` in links: empty, or such as `/shop`. */
  readonly prefix: string;
  /** The client's IP address. */
  readonly address: string;
  readonly user: SignedInSession | undefined;
  /** For forms in the response. */
  readonly csrfToken: string;
  /** The path of a page for links: `/products` becomes `/portal/products`. */
  link(path: string, query?: URLSearchParams): string;
  /** Aborted when the client disconnects. */
  disconnectSignal(): AbortSignal;
}

/** A page request from a signed-in user. */
export interface PageRequest extends AnonymousPageRequest {
  readonly user: SignedInSession;
  readonly account: Account;
  /** Who makes the changes of this request. */
  readonly by: Requester;
  /** Whether the account has this role, or one that includes it. For what a page shows. */
  may(role: Role): boolean;
  /** The catalogue's position when the request arrived. */
  readonly position: number;
  readonly generation: Generation;
  readonly format: Format;
  /** Whether the page shows a draft, which is not saved. */
  readonly isDraft: boolean;
  /** Rejects once the session has ended, or no longer has the role that the page needs. */
  reauthorize(): Promise<void>;
  /** Like `openStream` of an API call. @throws AppError `unavailable` */
  readonly openStream: OpenStream;
}

/** Handles a GET request. */
export type Show<Request = PageRequest> = (request: Request, portal: Portal) => Promise<Reply>;
/** Handles a complete form with a valid CSRF token. */
export type Submit<Request = PageRequest> =
  (request: Request, portal: Portal, form: Form) => Promise<Reply>;

type PublicPage = RoutePattern & { readonly access: 'public' } & (
  | { readonly method: 'GET'; readonly handle: Show<AnonymousPageRequest> }
  | { readonly method: 'POST'; readonly handle: Submit<AnonymousPageRequest> }
);

/**
 * A page for signed-in users; others are redirected to the sign-in, and back afterwards. `role` is
 * the least role that it needs: `portal.ts` checks it before the handler.
 */
type SignedInPage = RoutePattern & { readonly access: 'signed-in'; readonly role: Role } & (
  | {
    readonly method: 'GET'; readonly handle: Show;
    /** Its label in the navigation, which follows the order of the routes. */
    readonly section?: string;
    /** Whether a script requests it by itself, which does not keep a session from expiring. */
    readonly isPolled?: true;
  }
  | { readonly method: 'POST'; readonly handle: Submit; readonly draft?: DraftRoute }
);

/** An upload: the handler reads the file and checks the CSRF token that precedes it. */
export interface UploadPage extends RoutePattern {
  readonly access: 'upload';
  readonly role: Role;
  readonly method: 'POST';
  readonly handle: (request: PageRequest, portal: Portal, secret: string) => Promise<Reply>;
}

export type PageRoute = PublicPage | SignedInPage | UploadPage;

/** How to show a form again that was submitted after its session ended. */
export interface DraftRoute {
  /** Fields that are kept: never a password, a code or another secret. */
  readonly fields: readonly string[];
  readonly show: Submit;
}

/** The input of a form whose session ended, for the account that filled it in. */
export interface Draft extends AccountReference {
  /** Path of the form, below `/portal`. */
  readonly path: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}
