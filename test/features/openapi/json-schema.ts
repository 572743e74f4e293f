/**
 * A validator of JSON Schema (2020-12) for the keywords that the OpenAPI document uses. It throws
 * on any other keyword, so nothing passes unchecked. It is stricter than the standard in two ways:
 * an object with `properties` may have no other members, as the server must not send what it does
 * not describe; and the `contentSchema` of NDJSON is the schema of each line.
 */
import assert from 'node:assert/strict';

export type Json = Readonly<Record<string, unknown>>;

/** The one `any`: each keyword has its own type of argument; a wrong one fails the test. */
type Check = (value: unknown, argument: any, schema: Json, document: unknown) => string[];

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** One line per validation error, which begins with its JSON Pointer. */
export function findSchemaErrors(value: unknown, schema: unknown, document: unknown): string[] {
  assert.ok(isObject(schema), `no schema: ${JSON.stringify(schema)}`);
  const whole = 'properties' in schema ? { additionalProperties: false, ...schema } : schema;
  return Object.entries(whole).flatMap(([keyword, argument]) => {
    const check = CHECKS[keyword];
    assert.ok(check, `unsupported keyword: ${keyword}`);
    return check(value, argument, whole, document);
  });
}

/** Resolves a `$ref` within the document. */
export function resolve(reference: string, document: unknown): unknown {
  assert.match(reference, /^#\//);
  const tokens = reference.slice(2).split('/').map((token) =>
    token.replaceAll('~1', '/').replaceAll('~0', '~'));
  return tokens.reduce((part: unknown, token) => {
    assert.ok(isObject(part) && Object.hasOwn(part, token), `${reference} does not resolve`);
    return part[token];
  }, document);
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const noCheck: Check = () => [];

const CHECKS: Readonly<Record<string, Check>> = {
  $schema: noCheck,
  title: noCheck,
  description: noCheck,
  default: noCheck, // openapi.test.ts checks it like examples
  $ref: (value, reference, _, document) =>
    findSchemaErrors(value, resolve(reference, document), document),

  type: (value, types) => {
    const names: string[] = [types].flat();
    return expect(names.some((name) => isOfType(value, name)), `is not ${names.join(' or ')}`);
  },
  enum: (value, values: unknown[]) =>
    expect(values.includes(value), `is not one of ${values.join(', ')}`),
  const: (value, only) => expect(value === only, `is not ${only}`),

  minimum: (value, least) => expectNumber(value, (number) => number >= least, `below ${least}`),
  maximum: (value, most) => expectNumber(value, (number) => number <= most, `above ${most}`),
  exclusiveMaximum: (value, end) => expectNumber(value, (number) => number < end, `${end} or more`),

  minLength: (value, least) =>
    expectText(value, (text) => [...text].length >= least, `shorter than ${least}`),
  maxLength: (value, most) =>
    expectText(value, (text) => [...text].length <= most, `longer than ${most}`),
  pattern: (value, pattern) =>
    expectText(value, (text) => new RegExp(pattern, 'u').test(text), `not a match of ${pattern}`),
  format: (value, format) => {
    const isValid = FORMATS[format];
    assert.ok(isValid, `unsupported format: ${format}`);
    return expectText(value, isValid, `not a ${format}`);
  },
  contentMediaType: noCheck, // see contentSchema
  contentSchema: (value, schema, { contentMediaType }, document) => {
    assert.equal(contentMediaType, 'application/x-ndjson');
    if (typeof value !== 'string' || value === '') return [];
    if (!value.endsWith('\n')) return ['does not end with a line break'];
    return value.slice(0, -1).split('\n').flatMap((line, index) =>
      below(index, findSchemaErrors(JSON.parse(line), schema, document)));
  },

  required: (value, names: string[]) => !isObject(value) ? [] : names.flatMap((name) =>
    expect(Object.hasOwn(value, name), `lacks ${name}`)),
  properties: (value, properties: Json, _, document) => !isObject(value) ? []
    : Object.entries(value).filter(([name]) => Object.hasOwn(properties, name)).flatMap(
      ([name, member]) => below(name, findSchemaErrors(member, properties[name], document))),
  additionalProperties: (value, argument, { properties = {} }, document) => !isObject(value) ? []
    : Object.entries(value).filter(([name]) => !Object.hasOwn(properties as Json, name)).flatMap(
      ([name, member]) => below(name, argument === false
        ? ['is not described'] : findSchemaErrors(member, argument, document))),
  propertyNames: (value, schema, _, document) => !isObject(value) ? []
    : Object.keys(value).flatMap((name) => below(name, findSchemaErrors(name, schema, document))),

  maxProperties: (value, most) =>
    expect(!isObject(value) || Object.keys(value).length <= most, `has more than ${most}`),
  minProperties: (value, least) =>
    expect(!isObject(value) || Object.keys(value).length >= least, `has fewer than ${least}`),
  minItems: (value, least) =>
    expect(!Array.isArray(value) || value.length >= least, `has fewer than ${least}`),
  maxItems: (value, most) =>
    expect(!Array.isArray(value) || value.length <= most, `has more than ${most}`),
  items: (value, schema, _, document) => !Array.isArray(value) ? [] : value.flatMap(
    (item, index) => below(index, findSchemaErrors(item, schema, document))),

  allOf: (value, schemas: unknown[], _, document) =>
    schemas.flatMap((schema) => findSchemaErrors(value, schema, document)),
  anyOf: (value, schemas: unknown[], _, document) => {
    const errors = schemas.map((schema) => findSchemaErrors(value, schema, document));
    return errors.some((list) => list.length === 0) ? [] : errors.flat();
  },
  oneOf: (value, schemas: unknown[], _, document) => {
    const errors = schemas.map((schema) => findSchemaErrors(value, schema, document));
    const fitting = errors.filter((list) => list.length === 0).length;
    return fitting === 1 ? [] : [`matches ${fitting} of the schemas`, ...errors.flat()];
  },
  // OpenAPI 3.1 section 4.8.25: a hint, which must name the schema that matches.
  discriminator: (value, { propertyName, mapping }, _, document) => {
    if (!isObject(value)) return [];
    const reference = mapping[String(value[propertyName])];
    if (reference === undefined) return below(propertyName, ['is not in the mapping']);
    return findSchemaErrors(value, resolve(reference, document), document);
  },
};

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => TIME.test(text) && !Number.isNaN(Date.parse(text)),
  'uri-reference': (text) => URL.canParse(text, 'http://localhost'),
};

function expect(holds: boolean, error: string): string[] {
  return holds ? [] : [error];
}

function expectNumber(value: unknown, holds: (value: number) => boolean, error: string): string[] {
  return expect(typeof value !== 'number' || holds(value), `is ${error}`);
}

function expectText(value: unknown, holds: (value: string) => boolean, error: string): string[] {
  return expect(typeof value !== 'string' || holds(value), `is ${error}`);
}

function below(name: string | number, errors: readonly string[]): string[] {
  return errors.map((error) => `/${name}${error.startsWith('/') ? '' : ' '}${error}`);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object': return isObject(value);
    case 'array': return Array.isArray(value);
    case 'string': return typeof value === 'string';
    case 'number': return typeof value === 'number';
    case 'integer': return Number.isInteger(value);
    case 'boolean': return typeof value === 'boolean';
    case 'null': return value === null;
    default: throw new Error(`unknown type: ${type}`);
  }
}
