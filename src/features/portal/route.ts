/** What a page of the portal is, and what its handler is given. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Instances } from '../../api/instances.ts';
import type { Services } from '../../api/route.ts';
import type { OpenStream } from '../../api/streams.ts';
import type { Account } from '../../domain/access/account.ts';
import type { Passwords } from '../../domain/access/password.ts';
import type { SellerId } from '../../domain/id.ts';
import type { RequestRecord } from '../../http/request-record.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { RoutePattern } from '../../http/router.ts';
import type { SignedInSession } from '../../store/account-store.ts';
import type { Assets } from './assets.ts';
import type { Form } from './forms/form.ts';
import type { Format, Formats } from './html/format.ts';
import type { PortalOrigin } from './origin.ts';
import type { SignInLimits } from './sign-in/rate-limits.ts';

/** What all pages share. */
export interface Portal extends Services {
  readonly assets: Assets;
  readonly passwords: Passwords;
  readonly limits: SignInLimits;
  readonly formats: Formats;
  /** The entries of the navigation. */
  readonly sections: readonly { readonly path: string; readonly name: string }[];
  /** What the pages keep, such as uploads; closed with the portal. */
  readonly pageInstances: Instances<Portal>;
  /** Where uploaded files are kept. */
  readonly uploadFolder: string;
  /** Whether anybody may make an account, without an invitation. */
  readonly isOpen: boolean;
  readonly clock: () => number;
  /** Shows a draft in its form, to the session that has just begun with this token. */
  resume(request: AnonymousPageRequest, token: string, draft: Draft): Promise<Reply>;
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
  /** Of the address; what a page does not know it ignores. */
  readonly query: URLSearchParams;
  readonly base: PortalOrigin;
  /** The address that it came from. */
  readonly address: string;
  /** Who is signed in, if anybody is. */
  readonly user: SignedInSession | undefined;
  /** For the forms of the page that is answered. */
  readonly csrfToken: string;
  /** The path of a page, for links: `/products` is `/portal/products`. */
  link(path: string): string;
  /** As `disconnectSignal` of a call of the API. */
  disconnectSignal(): AbortSignal;
}

/** A request of somebody who is signed in. */
export interface PageRequest extends AnonymousPageRequest {
  readonly user: SignedInSession;
  readonly account: Account;
  /** Of the catalogue, when the request came. */
  readonly position: number;
  readonly format: Format;
  /** Whether the page shows a draft, of which nothing is saved. */
  readonly isDraft: boolean;
  /** Whether the session is still good: for an answer that takes long. */
  isSignedIn(): Promise<boolean>;
  /** Like `openStream` of an API call. @throws AppError `unavailable` */
  readonly openStream: OpenStream;
}

/** A page for anybody. A form is read, and its token checked, before its handler is called. */
type PublicPage = RoutePattern & { readonly access: 'open' } & (
  | {
    readonly method: 'GET';
    readonly handle: (request: AnonymousPageRequest, portal: Portal) => Promise<Reply>;
  }
  | {
    readonly method: 'POST';
    readonly handle: (request: AnonymousPageRequest, portal: Portal, form: Form) => Promise<Reply>;
  }
);

/** A page for those who are signed in; others are led to the sign-in and back. */
type SignedInPage = RoutePattern & { readonly access: 'own' } & (
  | {
    readonly method: 'GET';
    /** Its name in the navigation, which shows such pages in the order of the routes. */
    readonly section?: string;
    readonly handle: (request: PageRequest, portal: Portal) => Promise<Reply>;
  }
  | {
    readonly method: 'POST';
    readonly handle: (request: PageRequest, portal: Portal, form: Form) => Promise<Reply>;
    readonly draft?: DraftRoute;
  }
);

/** How to show a form again that was sent after its session ended. */
export interface DraftRoute {
  /** The fields that are kept: what was typed, and never a password, a code or another secret. */
  readonly fields: readonly string[];
  readonly show: (request: PageRequest, portal: Portal, form: Form) => Promise<Reply>;
}

/** What was typed into a form whose session ended. */
export interface Draft {
  readonly sellerId: SellerId;
  /** Path of the form, below `/portal`. */
  readonly path: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** A file that is sent: its handler reads it, and checks the token that stands before it. */
interface UploadPage extends RoutePattern {
  readonly access: 'upload';
  readonly method: 'POST';
  readonly handle: (request: PageRequest, portal: Portal, secret: string) => Promise<Reply>;
}

export type PageRoute = PublicPage | SignedInPage | UploadPage;
