/** How the OpenAPI document describes a route, its parameters and its responses. */
import type { HeaderField, RequestField, ResponseField } from './header-fields.ts';
import type { SellerId } from '../../domain/id.ts';
import type { Schema } from '../../domain/validation.ts';
import type { Store } from '../../store/store.ts';
import type { Parameter, ParameterTable } from '../parameters.ts';

/** A parameter of a path. */
export interface PathParameter extends Omit<Parameter, 'parse' | 'default'> {
  readonly name: string;
  /** An existing value of the seller, if there is one, for examples that work. */
  findSample(store: Store, sellerId: SellerId): Promise<string | undefined>;
}

/** A group of operations. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** All routes, and the schemas and path parameters that they refer to. */
export interface ApiDescription<Route> {
  readonly routes: readonly Route[];
  readonly webhooks: readonly WebhookOperation[];
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly pathParameters: readonly PathParameter[];
}

/** Bodies by media type, each with one example, or with several by name. */
type Content = Readonly<Record<string, { readonly schema: Schema } & (
  | { readonly example: unknown }
  | { readonly examples: Readonly<Record<string, { readonly value: unknown }>> }
)>>;

/** A response: its meaning, its body, and the header fields that not all responses have. */
export interface OperationResponse {
  readonly description: string;
  /** None for a response without a body. */
  readonly content?: Content;
  /**
   * Other representations, which a request has to ask for. They are apart from `content`, so that
   * clients which are generated from the document have one type of response: the JSON object.
   */
  readonly alternatives?: Content;
  readonly headers?: readonly ResponseField[];
}

/** The description of a route, which also sets its query parameters and media types. */
export interface Operation {
  /** Unique among the operations: `createProduct`. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  /** Other query parameters are rejected. */
  readonly query?: ParameterTable;
  readonly request?: Content;
  /** Whether the body is optional. */
  readonly isRequestOptional?: boolean;
  /** Request header fields that have an effect. */
  readonly requestHeaders?: readonly RequestField[];
  /** Responses to successful requests, by status. */
  readonly responses: Readonly<Record<number, OperationResponse>>;
  /** Problem statuses in addition to those that follow from the route. */
  readonly problems?: readonly number[];
}

/** Puts operations into a group. */
export function groupOperations<Name extends string>(
  tag: Tag, operations: Readonly<Record<Name, Omit<Operation, 'tag'>>>,
): Readonly<Record<Name, Operation>> {
  const entries = Object.entries<Omit<Operation, 'tag'>>(operations);
  // The cast: each operation keeps its name.
  return Object.fromEntries(entries.map(([name, operation]) => [name, { ...operation, tag }])) as
    Record<Name, Operation>;
}

/** A request that the server sends: a webhook in the sense of OpenAPI 3.1. */
export interface WebhookOperation
  extends Pick<Operation, 'id' | 'tag' | 'summary' | 'description'> {
  readonly headers: readonly HeaderField[];
  readonly request: Content;
  /** What the receiver responds, by status or range of statuses. */
  readonly responses: Readonly<Record<string, string>>;
}
