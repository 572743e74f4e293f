/**
 * A JSON Schema for OpenAPI documents (OpenAPI Specification 3.1.0, section 4). It covers only the
 * parts of the specification that this document uses.
 */

const text = { type: 'string', minLength: 1 };
const flag = { type: 'boolean' };
/** The tests that apply the schemas check the schemas themselves. */
const schema = { type: 'object' };
const RESPONSES = '^(?:[1-5](?:\\d\\d|XX)|default)$';

export const STRUCTURE = {
  document: objectOf({
    openapi: { const: '3.1.0' },
    info: objectOf({
      title: text, version: text, summary: text, description: text,
      license: objectOf({ name: text, identifier: text }),
    }, { contact: objectOf({}, { email: text, url: text }) }),
    servers: { type: 'array', minItems: 1, items: objectOf({ url: text }) },
    tags: { type: 'array', minItems: 1, items: objectOf({ name: text, description: text }) },
    paths: mapOf(refer('pathItem'), '^/'),
    components: objectOf({
      schemas: componentsOf(schema),
      parameters: componentsOf(refer('parameter')),
      headers: componentsOf(refer('header')),
      responses: componentsOf(refer('response')),
      securitySchemes: componentsOf(
        objectOf({ type: { const: 'apiKey' }, in: { const: 'header' }, name: text },
          { description: text })),
    }),
  }, { webhooks: mapOf(refer('pathItem'), '^[a-zA-Z]+$') }),
  pathItem: objectOf({}, {
    parameters: { type: 'array', minItems: 1, items: refer('parameter') },
    get: refer('operation'), post: refer('operation'), put: refer('operation'),
    patch: refer('operation'), delete: refer('operation'),
  }),
  operation: objectOf({
    operationId: { type: 'string', pattern: '^[a-z][a-zA-Z]+$' },
    tags: { type: 'array', minItems: 1, maxItems: 1, items: text },
    summary: text,
    description: text,
    security: {
      type: 'array', maxItems: 2, items: objectOf({ apiKey: { type: 'array', items: text } }),
    },
    responses: mapOf({ anyOf: [refer('response'), refer('reference')] }, RESPONSES),
  }, {
    deprecated: { const: true },
    parameters: {
      type: 'array', minItems: 1, items: { anyOf: [refer('parameter'), refer('reference')] },
    },
    requestBody: objectOf({ required: flag, content: refer('content') }),
  }),
  parameter: {
    oneOf: [
      objectOf({ in: { const: 'path' }, required: { const: true }, ...parameterOf() }),
      objectOf({ in: { const: 'query' }, ...parameterOf() }, { explode: { const: false } }),
      objectOf({ in: { const: 'header' }, required: flag, ...parameterOf() }),
    ],
  },
  response: objectOf({ description: text }, {
    headers: mapOf(refer('reference'), '^[A-Za-z-]+$'),
    content: refer('content'),
    'x-alternative-content': refer('content'),
  }),
  header: objectOf({ description: text, required: flag, schema, example: {} }),
  content: mapOf({
    oneOf: [
      objectOf({ schema, example: {} }),
      objectOf({ schema, examples: mapOf(objectOf({ value: {} }), '^[a-z_]+$') }),
    ],
  }, '^[a-z]+/[a-z.+-]+$'),
  reference: objectOf({ $ref: { type: 'string', pattern: '^#/components/' } }),
};

function parameterOf() {
  return { name: text, description: text, schema, example: {} };
}

function objectOf(required: Readonly<Record<string, unknown>>, optional: object = {}) {
  const properties = { ...required, ...optional };
  return { type: 'object', required: Object.keys(required), properties };
}

function mapOf(value: unknown, pattern: string) {
  return { type: 'object', propertyNames: { pattern }, additionalProperties: value };
}

function componentsOf(value: unknown) {
  return mapOf(value, '^[a-zA-Z0-9._-]+$');
}

function refer(name: string) {
  return { $ref: `#/${name}` };
}
