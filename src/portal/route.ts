/** What a page of the portal is, and what its handler is given. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Services } from '../api/route.ts';
import type { Account } from '../domain/account.ts';
import type { Reply } from '../http/reply.ts';
import type { RoutePattern } from '../http/router.ts';
import type { Visitor } from '../store/portal-store.ts';
import type { Assets } from './assets.ts';
import type { Form } from './form.ts';
import type { Format, Formats } from './format.ts';
import type { Imports } from './import/imports.ts';
import type { Passwords } from './password.ts';
import type { SignInLimits } from './sign-in-limits.ts';
import type { Site } from './site.ts';

/** What all pages share. */
export interface Portal extends Services {
  readonly assets: Assets;
  readonly passwords: Passwords;
  readonly limits: SignInLimits;
  readonly formats: Formats;
  readonly productImports: Imports;
  /** Whether anybody may make an account, without an invitation. */
  readonly isOpen: boolean;
  readonly clock: () => number;
}

/** A request for a page, by anybody. */
export interface OpenVisit {
  readonly request: IncomingMessage;
  readonly headers: IncomingHttpHeaders;
  /** Of the path, below `/portal`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Of the address; what a page does not know it ignores. */
  readonly query: URLSearchParams;
  readonly site: Site;
  /** The address that it came from. */
  readonly address: string;
  /** Who is signed in, if anybody is. */
  readonly visitor: Visitor | undefined;
  /** For the forms of the page that is answered. */
  readonly csrfToken: string;
  /** The path of a page, for links: `/products` is `/portal/products`. */
  link(path: string): string;
  /** As `watchClient` of a call of the API. */
  watchClient(): AbortSignal;
}

/** A request of somebody who is signed in. */
export interface Visit extends OpenVisit {
  readonly visitor: Visitor;
  readonly account: Account;
  /** Of the catalogue, when the request came. */
  readonly position: number;
  readonly format: Format;
  /** Whether the session is still good: for an answer that takes long. */
  isSignedIn(): Promise<boolean>;
}

/** A page for anybody. A form is read, and its token checked, before its handler is called. */
type OpenPage = RoutePattern & { readonly access: 'open' } & (
  | { readonly method: 'GET'; readonly handle: (v: OpenVisit, p: Portal) => Promise<Reply> }
  | {
    readonly method: 'POST';
    readonly handle: (visit: OpenVisit, portal: Portal, form: Form) => Promise<Reply>;
  }
);

/** A page for those who are signed in; others are led to the sign-in and back. */
type OwnPage = RoutePattern & { readonly access: 'own' } & (
  | { readonly method: 'GET'; readonly handle: (visit: Visit, portal: Portal) => Promise<Reply> }
  | {
    readonly method: 'POST';
    readonly handle: (visit: Visit, portal: Portal, form: Form) => Promise<Reply>;
  }
);

/** A file that is sent: its handler reads it, and checks the token that stands before it. */
interface UploadPage extends RoutePattern {
  readonly access: 'upload';
  readonly method: 'POST';
  readonly handle: (visit: Visit, portal: Portal, secret: string) => Promise<Reply>;
}

export type PageRoute = OpenPage | OwnPage | UploadPage;
