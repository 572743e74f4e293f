/**
 * The OpenAPI 3.1 document, generated from the route table: parameters, security, common problems
 * and common header fields follow from the route itself; its `operation` describes the rest.
 */
import {
  type HeaderField, requestFields, type ResponseField, responseFields,
} from '../../api/description/header-fields.ts';
import type {
  ApiDescription, OperationResponse, PathParameter,
} from '../../api/description/operation.ts';
import type { Parameter } from '../../api/parameters.ts';
import { describeProblems, listProblems } from './problem-responses.ts';
import type { Route } from '../../api/route.ts';

/** The major version is the `v1` in the paths. */
const API_VERSION = '1.0.0';

export const DESCRIPTION = `Lists and changes a seller's products.

Requests may contain only the members described here; responses may gain members in the future.
Every change to a catalogue takes its next *position*: 1, 2, 3, without gaps. Errors are problem
details (RFC 9457) that report all errors of a request together. An unknown path gets 404; a method
that a path does not support gets 405 with \`Allow\` (\`#/components/responses/405\`). Responses are
compressed if \`Accept-Encoding\` allows it.`;

export const KEY_DESCRIPTION =
  'A server-side secret. Requests with a key that come from web pages are rejected.';

type Part = Readonly<Record<string, unknown>>;

/** The document as JSON; `prefix` precedes every path. */
export function describeApi(
  { routes, schemas, pathParameters }: ApiDescription<Route>, prefix: string,
): string {
  const problems = describeProblems();
  const groups = [...Map.groupBy(routes, ({ path }) => path)];
  const paths = Object.fromEntries(groups.map(([path, group]) => [path, {
    ...describePathParameters(path, pathParameters), ...describeOperations(group, problems),
  }]));
  const responses = Object.fromEntries([...problems].map(([status, response]) =>
    [status, describeResponse(response, response.headers ?? [], false)]));
  const referring = JSON.stringify([paths, responses]);
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Seller Product API', version: API_VERSION, description: DESCRIPTION },
    servers: [{ url: prefix || '/' }],
    paths,
    components: {
      schemas,
      parameters: describeFields('parameters', requestFields, referring, (field) =>
        ({ name: field, in: 'header' })),
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

type Problems = ReturnType<typeof describeProblems>;

function describePathParameters(path: string, known: readonly PathParameter[]): Part {
  const parameters = listPathParameters(path, known)
    .map(({ findSample: _, ...parameter }) => ({ in: 'path', required: true, ...parameter }));
  return parameters.length > 0 ? { parameters } : {};
}

/** The parameters of a path, in order. */
export function listPathParameters(
  path: string, known: readonly PathParameter[],
): readonly PathParameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return names.flatMap((name) => known.filter((one) => one.name === name));
}

function describeOperations(routes: readonly Route[], problems: Problems): Part {
  return Object.fromEntries(routes.flatMap((route) => {
    const described = [route.method.toLowerCase(), describeOperation(route, problems, false)];
    if (route.method !== 'GET') return [described];
    return [described, ['head', describeOperation(route, problems, true)]];
  }));
}

function describeOperation(route: Route, problems: Problems, isHead: boolean): Part {
  const { id, summary, description, request, requestHeaders = [] } = route.operation;
  const required = !route.operation.isRequestOptional;
  const headers = requestHeaders.map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const parameters = [...Object.entries(route.query).map(describeParameter), ...headers];
  return {
    operationId: isHead ? `${id}Head` : id,
    summary: isHead ? `${summary} (header fields only)` : summary,
    description,
    // For an apiKey scheme, OpenAPI 3.1 allows role names here: the scope that the key needs.
    security: route.scope === undefined ? [] : [{ apiKey: [route.scope] }],
    ...(parameters.length > 0 && { parameters }),
    ...(request && { requestBody: { required, content: request } }),
    responses: describeResponses(route, problems, isHead),
  };
}

/** Lists are comma-separated (`explode: false`); by default, the parameter would be repeated. */
function describeParameter(
  [name, { description, example, schema }]: readonly [string, Parameter],
): Part {
  const isList = schema['type'] === 'array';
  return { in: 'query', name, description, example, schema, ...(isList && { explode: false }) };
}

function describeResponses(route: Route, problems: Problems, isHead: boolean): Part {
  const responses = Object.entries(route.operation.responses).map(([status, response]) => {
    return [status, describeResponse(response, listFields(route, response), isHead)];
  });
  const errors = listProblems(route).map((status) => {
    const problem = problems.get(status);
    const own = problem && isHead && describeResponse(problem, problem.headers ?? [], isHead);
    return [status, own || { $ref: `#/components/responses/${status}` }];
  });
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
    ...(route.scope === undefined ? [] : ['RateLimit', 'RateLimitPolicy'] as const),
  ];
}

function describeResponse(
  { description, content }: OperationResponse, fields: readonly ResponseField[], isHead: boolean,
): Part {
  const headers = fields.map((name) =>
    [responseFields[name].field, { $ref: `#/components/headers/${name}` }]);
  return {
    description,
    headers: Object.fromEntries(headers),
    ...(content && !isHead && { content }),
  };
}

/** Only fields that the document refers to: others belong to features that were removed. */
function describeFields(
  kind: string, fields: Readonly<Record<string, HeaderField>>, referring: string,
  place: (field: string) => Part,
): Part {
  return Object.fromEntries(Object.entries(fields)
    .filter(([name]) => referring.includes(`"#/components/${kind}/${name}"`))
    .map(([name, { field, ...rest }]) => [name, { ...place(field), ...rest }]));
}
