/** The types of portal pages: the request that a handler is given, and the routes. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Instances } from '../../api/instances.ts';
import type { Services } from '../../api/route.ts';
import type { OpenStream } from '../../api/streams.ts';
import type { Account } from '../../domain/access/account.ts';
import type { Passwords } from '../../domain/access/password.ts';
import type { SellerId } from '../../domain/id.ts';
import type { RequestRecord } from '../../http/request-record.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { RoutePattern, Router } from '../../http/router.ts';
import type { SignedInSession } from '../../store/account-store.ts';
import type { Assets } from './assets.ts';
import type { Form } from './forms/form.ts';
import type { Format, Formats } from './html/format.ts';
import type { PortalOrigin } from './origin.ts';
import type { PortalLimits } from './sign-in/rate-limits.ts';

/** What all pages share. */
export interface Portal extends Services {
  readonly router: Router<PageRoute>;
  readonly assets: Assets;
  readonly passwords: Passwords;
  readonly limits: PortalLimits;
  readonly formats: Formats;
  /** The entries of the navigation. */
  readonly sections: readonly { readonly path: string; readonly name: string }[];
  /** What pages keep between requests, such as uploads; closed with the portal. */
  readonly pageInstances: Instances<Portal>;
  /** Where uploaded files are stored. */
  readonly uploadFolder: string;
  /** Whether anybody may create an account, without an invitation. */
  readonly isRegistrationOpen: boolean;
  readonly clock: () => number;
}

/** A request for a page, by anybody. */
export interface AnonymousPageRequest {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /** Collects what becomes known about the request. */
  readonly record: RequestRecord;
  readonly headers: IncomingHttpHeaders;
  /** Path of the page, below `/portal`. */
  readonly path: string;
  /** Path parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Pages ignore parameters that they do not know. */
  readonly query: Form;
  /** The origin of the portal, as the browser sees it. */
  readonly base: PortalOrigin;
  /** The address of the client. */
  readonly address: string;
  readonly user: SignedInSession | undefined;
  /** For the forms in the response. */
  readonly csrfToken: string;
  /** The path of a page, for links: `/products` is `/portal/products`. */
  link(path: string, query?: URLSearchParams): string;
  /** Aborted when the client disconnects. */
  disconnectSignal(): AbortSignal;
}

/** A request of a signed-in user. */
export interface PageRequest extends AnonymousPageRequest {
  readonly user: SignedInSession;
  readonly account: Account;
  /** The position of the catalogue when the request arrived. */
  readonly position: number;
  readonly format: Format;
  /** Whether the page shows a draft, of which nothing is saved. */
  readonly isDraft: boolean;
  /** Whether the session is still valid: for long responses. */
  isSignedIn(): Promise<boolean>;
  /** Like `openStream` of an API call. @throws AppError `unavailable` */
  readonly openStream: OpenStream;
}

/** Answers a GET request. */
type Show<Request> = (request: Request, portal: Portal) => Promise<Reply>;
/** Answers a form, which is complete and has a valid CSRF token. */
type Submit<Request> = (request: Request, portal: Portal, form: Form) => Promise<Reply>;

/** A page for anybody. */
type PublicPage = RoutePattern & { readonly access: 'public' } & (
  | { readonly method: 'GET'; readonly handle: Show<AnonymousPageRequest> }
  | { readonly method: 'POST'; readonly handle: Submit<AnonymousPageRequest> }
);

/** A page for signed-in users; others are redirected to the sign-in, and back from there. */
type SignedInPage = RoutePattern & { readonly access: 'signed-in' } & (
  | {
    readonly method: 'GET'; readonly handle: Show<PageRequest>;
    /** Its name in the navigation, which lists such pages in the order of the routes. */
    readonly section?: string;
  }
  | { readonly method: 'POST'; readonly handle: Submit<PageRequest>; readonly draft?: DraftRoute }
);

/** An upload: its handler reads the file, and checks the token that precedes it. */
interface UploadPage extends RoutePattern {
  readonly access: 'upload';
  readonly method: 'POST';
  readonly handle: (request: PageRequest, portal: Portal, secret: string) => Promise<Reply>;
}

export type PageRoute = PublicPage | SignedInPage | UploadPage;

/** How to show a form again that was sent after its session ended. */
export interface DraftRoute {
  /** The fields that are kept: never a password, a code or another secret. */
  readonly fields: readonly string[];
  readonly show: Submit<PageRequest>;
}

/** What was typed into a form whose session ended. */
export interface Draft {
  readonly sellerId: SellerId;
  /** Path of the form, below `/portal`. */
  readonly path: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}
