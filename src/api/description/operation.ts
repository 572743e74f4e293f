/** How the OpenAPI document describes a route, its parameters and its responses. */
import type { RequestField, ResponseField } from './header-fields.ts';
import type { SellerId } from '../../domain/id.ts';
import type { Schema } from '../../domain/validation.ts';
import type { Store } from '../../store/store.ts';
import type { Parameter, ParameterTable } from '../parameters.ts';

/** A parameter of a path. */
export interface PathParameter extends Omit<Parameter, 'parse' | 'default'> {
  readonly name: string;
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

/** A response: what it means, its body, and the header fields that not all responses have. */
export interface Answer {
  readonly description: string;
  /** None for a response without a body. */
  readonly content?: Content;
  readonly headers?: readonly ResponseField[];
}

/** A route takes and sends the media types and the query that its operation describes. */
export interface Operation {
  /** Unique among the operations: `createProduct`. */
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  /** Its query parameters; others are rejected. */
  readonly query?: ParameterTable;
  /** The body, by media type. */
  readonly request?: Content;
  /** Whether the body may be left out. */
  readonly isRequestOptional?: boolean;
  /** Header fields of the request that have an effect. */
  readonly requestHeaders?: readonly RequestField[];
  /** The responses to requests that succeed, by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Statuses of the problems of its own; those that follow from the route are added. */
  readonly problems?: readonly number[];
}
