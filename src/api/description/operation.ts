/** How the OpenAPI document describes a route, its parameters and its responses. */
import type { RequestField, ResponseField } from './header-fields.ts';
import type { SellerId } from '../../domain/id.ts';
import type { Store } from '../../store/store.ts';
import type { Schema } from '../../domain/validation.ts';

/** A parameter of a query: its name, what it does, and what it takes. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  readonly example: unknown;
}

/** A parameter of a path. */
export interface PathParameter extends Parameter {
  /** A value that exists in the seller's shop, if there is one: for examples that work. */
  findSample(store: Store, sellerId: SellerId): Promise<string | undefined>;
}

/** The whole API, with what its routes refer to. */
export interface ApiDescription<Route> {
  readonly routes: readonly Route[];
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly pathParameters: readonly PathParameter[];
}

/** Bodies by media type, each with an example, or with several by name. */
type Content = Readonly<Record<string, { readonly schema: Schema } & (
  | { readonly example: unknown }
  | { readonly examples: Readonly<Record<string, { readonly value: unknown }>> }
)>>;

/** An answer: what it means, its body and the header fields of its own. */
export interface Answer {
  readonly description: string;
  /** None for an answer without a body. */
  readonly content?: Content;
  readonly headers?: readonly ResponseField[];
}

export interface Operation {
  /** Unique among the operations: `createProduct`. */
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  /** The body: one entry for each media type that the route consumes. */
  readonly request?: Content;
  /** Whether the body may be left out. */
  readonly isRequestOptional?: boolean;
  /** Header fields of the request that have an effect. */
  readonly requestHeaders?: readonly RequestField[];
  /** What it answers where it succeeds, by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Statuses of the problems of its own; those that follow from the route are added. */
  readonly problems?: readonly number[];
}
