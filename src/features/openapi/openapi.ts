/**
 * The OpenAPI 3.1 document, generated from the route table: parameters, security, common problems
 * and common header fields follow from the route itself; its `operation` describes the rest.
 */
import {
  type HeaderField, requestFields, type ResponseField, responseFields,
} from '../../api/description/header-fields.ts';
import type {
  ApiDescription, OperationResponse, PathParameter, Tag, WebhookOperation,
} from '../../api/description/operation.ts';
import type { Parameter } from '../../api/parameters.ts';
import { describeProblems, listProblems, responseName } from './problem-responses.ts';
import type { Route } from '../../api/route.ts';

/** The major version is the `v1` in the paths. */
const API_VERSION = '1.0.0';

export const DESCRIPTION = `Lists and changes a seller's products.

Requests may contain only the members described here; responses may gain members in the future.
Every change to a catalogue takes its next *position*: 1, 2, 3, without gaps. Errors are problem
details (RFC 9457) that report all errors of a request together. An unknown path gets 404; a method
that a path does not support gets 405 with \`Allow\`. HEAD works wherever GET does. Responses are
compressed if \`Accept-Encoding\` allows it. A request can ask for the representations in
\`x-alternative-content\` by \`Accept\` or a query parameter.`;

export const KEY_DESCRIPTION =
  'A server-side secret. Requests with a key that come from web pages are rejected.';

/** What the document says about this server; each part is optional. */
export interface ServerDescription {
  /** Where clients find the server. Without it, paths are relative to the document. */
  readonly baseUrl?: string | undefined;
  /** Where integrators reach the operator. */
  readonly contact?: Contact | undefined;
}

/** OpenAPI 3.1 section 4.8.3. */
export type Contact = { readonly email: string } | { readonly url: string };

type Part = Readonly<Record<string, unknown>>;

/** The document as JSON. */
export function describeApi(
  { routes, webhooks, schemas, pathParameters }: ApiDescription<Route>,
  { baseUrl = '', contact }: ServerDescription = {},
): string {
  const problems = describeProblems();
  const groups = [...Map.groupBy(routes, ({ path }) => path)];
  const paths = Object.fromEntries(groups.map(([path, group]) => [path, {
    ...describePathParameters(path, pathParameters),
    ...Object.fromEntries(group.map((route) =>
      [route.method.toLowerCase(), describeOperation(route)])),
  }]));
  const used = JSON.stringify(paths);
  const responses = selectUsed('responses', used, [...problems].map(([status, response]) =>
    [responseName(status), describeResponse(response, response.headers ?? [])]));
  const referring = `${used}${JSON.stringify(responses)}`;
  return JSON.stringify({
    openapi: '3.1.0',
    info: {
      title: 'Seller Product API', version: API_VERSION,
      summary: 'A seller\'s products and stock, and every change to them.',
      description: DESCRIPTION,
      ...(contact && { contact }),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl.replace(/\/+$/, '') || '/' }],
    tags: listTags(routes),
    paths,
    ...(webhooks.length > 0 && { webhooks: describeWebhooks(webhooks) }),
    components: {
      schemas,
      parameters: describeFields('parameters', requestFields, referring, placeInHeader),
      headers: describeFields('headers', responseFields, referring, () => ({})),
      responses,
      securitySchemes: {
        apiKey: {
          type: 'apiKey', in: 'header', name: 'x-api-key', description: KEY_DESCRIPTION,
        },
      },
    },
  });
}

/** Each once; those that need no key come last. */
export function listTags(routes: readonly Route[]): readonly Tag[] {
  const ordered = [
    ...routes.filter(({ scopes }) => scopes !== undefined),
    ...routes.filter(({ scopes }) => scopes === undefined),
  ];
  return [...new Set(ordered.map(({ operation }) => operation.tag))];
}

function describePathParameters(path: string, pathParameters: readonly PathParameter[]): Part {
  const parameters = listPathParameters(path, pathParameters)
    .map(({ findSample: _, ...parameter }) => ({ in: 'path', required: true, ...parameter }));
  return parameters.length > 0 ? { parameters } : {};
}

/** The parameters of a path, in order. */
export function listPathParameters(
  path: string, pathParameters: readonly PathParameter[],
): readonly PathParameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return names.flatMap((name) => pathParameters.filter((parameter) => parameter.name === name));
}

function describeOperation(route: Route): Part {
  const { operation, query, scopes = [] } = route;
  const { id, tag, summary, description, request, requestHeaders = [] } = operation;
  const headers = requestHeaders.map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const parameters = [...Object.entries(query).map(describeParameter), ...headers];
  return {
    operationId: id,
    tags: [tag.name],
    summary,
    description,
    // For an apiKey scheme, OpenAPI 3.1 allows role names here: each is a scope that suffices.
    security: scopes.map((scope) => ({ apiKey: [scope] })),
    ...(parameters.length > 0 && { parameters }),
    ...(request && {
      requestBody: { required: !operation.isRequestOptional, content: request },
    }),
    responses: describeResponses(route),
  };
}

/**
 * Lists are comma-separated (`explode: false`); by default, the parameter would be repeated. The
 * parameters of a family are the members of an object (`style: form`, which is the default).
 */
function describeParameter(
  [name, { description, example, schema }]: readonly [string, Parameter],
): Part {
  const isList = schema['type'] === 'array';
  const shape = { schema, ...(isList && { explode: false }) };
  return { in: 'query', name: shownName(name), description, example, ...shape };
}

/** The name of a parameter in documents: `metadata` for the family `metadata.*`. */
export function shownName(name: string): string {
  return name.replace(/\.\*$/, '');
}

function describeResponses(route: Route): Part {
  const responses = Object.entries(route.operation.responses).map(([status, response]) =>
    [status, describeResponse(response, listFields(route, response))]);
  const errors = listProblems(route).map((status) =>
    [status, { $ref: `#/components/responses/${responseName(status)}` }]);
  return Object.fromEntries([...responses, ...errors]);
}

/** The header fields of a successful response: its own, and those that follow from the route. */
export function listFields(route: Route, response: OperationResponse): readonly ResponseField[] {
  const { requestHeaders = [] } = route.operation;
  return [
    ...response.headers ?? [],
    ...(requestHeaders.includes('IdempotencyKey') ? ['IdempotentReplay'] as const : []),
    'CacheControl',
    ...(response.content ? ['ContentEncoding'] as const : []),
    ...(response.content || route.method === 'GET' ? ['Vary'] as const : []),
    ...(route.scopes === undefined ? [] : ['RateLimit', 'RateLimitPolicy'] as const),
  ];
}

function describeResponse(
  { description, content, alternatives }: OperationResponse, fields: readonly ResponseField[],
): Part {
  const headers = fields.map((name) =>
    [responseFields[name].field, { $ref: `#/components/headers/${name}` }]);
  return {
    description,
    headers: Object.fromEntries(headers),
    ...(content && { content }),
    ...(alternatives && { 'x-alternative-content': alternatives }),
  };
}

function describeWebhooks(webhooks: readonly WebhookOperation[]): Part {
  return Object.fromEntries(webhooks.map(({ id, tag, summary, description, ...webhook }) => [id, {
    post: {
      operationId: id,
      tags: [tag.name],
      summary,
      description,
      security: [],
      parameters: webhook.headers.map(({ field, ...rest }) =>
        ({ ...placeInHeader(field), ...rest })),
      requestBody: { required: true, content: webhook.request },
      responses: Object.fromEntries(Object.entries(webhook.responses)
        .map(([status, meaning]) => [status, { description: meaning }])),
    },
  }]));
}

function placeInHeader(field: string): Part {
  return { name: field, in: 'header' };
}

function describeFields(
  kind: string, fields: Readonly<Record<string, HeaderField>>, referring: string,
  place: (field: string) => Part,
): Part {
  return selectUsed(kind, referring, Object.entries(fields).map(([name, { field, ...rest }]) =>
    [name, { ...place(field), ...rest }]));
}

/** Only components that the document refers to: others belong to features that were removed. */
function selectUsed(
  kind: string, referring: string, components: readonly (readonly [name: string, part: Part])[],
): Part {
  return Object.fromEntries(components.filter(([name]) =>
    referring.includes(`"#/components/${kind}/${name}"`)));
}
