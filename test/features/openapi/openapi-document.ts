/** Reads the OpenAPI document of a server, and checks responses against it. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../../support/http.ts';
import type { TestServer } from '../../support/server.ts';
import { findSchemaErrors, isObject, type Json, resolve } from './json-schema.ts';

/** Headers that Node and the listener add to every response. */
const TRANSPORT = new Set([
  'connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding',
  'x-content-type-options',
]);

export interface OperationEntry {
  readonly method: string;
  /** With path parameters in braces. */
  readonly path: string;
  readonly operation: Json;
}

export async function fetchDocument(server: TestServer, prefix = ''): Promise<Json> {
  const answer = await server.send({ path: `${prefix}/api/v1/openapi.json` });
  assert.equal(answer.status, 200, answer.text);
  return answer.json();
}

/** A nested member of a part of the document, with references resolved. */
export function dig(document: Json, part: unknown, ...names: readonly string[]): Json {
  let found: unknown = part;
  for (const name of [undefined, ...names]) {
    if (name !== undefined) found = isObject(found) ? found[name] : undefined;
    if (isObject(found) && typeof found['$ref'] === 'string') {
      found = resolve(found['$ref'], document);
    }
  }
  assert.ok(isObject(found), `the document has no ${names.join(' ')}`);
  return found;
}

export function listOperations(document: Json): OperationEntry[] {
  return Object.entries(dig(document, document, 'paths')).flatMap(([path, item]) =>
    Object.keys(dig(document, item)).filter((name) => name !== 'parameters').map((name) =>
      ({ method: name.toUpperCase(), path, operation: dig(document, item, name) })));
}

/** The documented statuses of an operation. */
export function listStatuses(document: Json, operation: Json): number[] {
  return Object.keys(dig(document, operation, 'responses')).map(Number);
}

/** Asserts that the document describes the response: its status, headers and body. */
export function assertDescribed(
  document: Json, method: string, path: string, answer: Answer,
): void {
  // RFC 9110 section 9.3.2: the response to HEAD is that to GET, without its body.
  const described = method === 'HEAD' ? 'get' : method.toLowerCase();
  const responses = dig(document, document, 'paths', path, described, 'responses');
  const context = `${method} ${path} ${answer.status} ${answer.text.slice(0, 500)}`;
  const status = String(answer.status);
  assert.ok(status in responses, `an undescribed status: ${context}`);
  assertResponse(document, dig(document, responses, status), answer, method === 'HEAD', context);
}

export function assertResponse(
  document: Json, response: Json, answer: Answer, isHead: boolean, context: string,
): void {
  assertFields(document, response, answer.headers, context);
  if (isHead || !('content' in response)) {
    assert.equal(answer.text, '', context);
    if (!isHead) assert.equal(answer.headers['content-type'], undefined, context);
    return;
  }
  const [type = ''] = (answer.headers['content-type'] ?? '').split(';');
  const body = type.endsWith('json') ? readBody(type, answer) : answer.text;
  const bodies = listBodies(response).filter(([described]) => described === type);
  const errors = bodies.map(([, { schema }]) => findSchemaErrors(body, schema, document));
  assert.ok(errors.some((list) => list.length === 0), `${context} ${JSON.stringify(errors)}`);
}

/** The bodies that a response may have; those that depend on the request's `Accept` come last. */
export function listBodies(response: Json): readonly (readonly [type: string, body: Json])[] {
  return [response['content'], response['x-alternative-content']].flatMap((bodies) =>
    Object.entries(bodies ?? {}));
}

function readBody(type: string, answer: Answer): unknown {
  return type === 'application/x-ndjson' ? answer.text : answer.json();
}

/** Asserts that all sent headers match their descriptions, and that no required one is missing. */
function assertFields(
  document: Json, response: Json, sent: IncomingHttpHeaders, context: string,
): void {
  const described = new Map<string, Json>();
  for (const name of Object.keys(dig(document, response, 'headers'))) {
    described.set(name.toLowerCase(), dig(document, response, 'headers', name));
  }
  for (const [name, value] of Object.entries(sent)) {
    if (TRANSPORT.has(name)) continue;
    const field = described.get(name);
    assert.ok(field, `undescribed header ${name}: ${context}`);
    const { type, anyOf = [{ type }] } = dig(document, field, 'schema');
    // The cast: alternatives are schemas.
    const isNumber = /^\d+$/.test(String(value))
      && (anyOf as readonly Json[]).some((schema) => schema['type'] === 'integer');
    const errors = findSchemaErrors(isNumber ? Number(value) : value, field['schema'], document);
    assert.deepEqual(errors, [], `${name}: ${context}`);
  }
  for (const [name, { required }] of described) {
    assert.ok(required !== true || name in sent, `missing header ${name}: ${context}`);
  }
}
