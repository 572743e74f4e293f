/**
 * A validator of JSON Schema (2020-12) for the keywords that the OpenAPI document uses. It throws
 * on any other keyword, so nothing passes unchecked. In two things it goes beyond the standard: an
 * object has no members but those that `properties` names, for this server should not send what it
 * does not describe; and the `contentSchema` of NDJSON is the schema of each line.
 */
import assert from 'node:assert/strict';

export type Json = Readonly<Record<string, unknown>>;

/** The one `any`: each keyword has an argument of a kind of its own; another fails the test. */
type Check = (value: unknown, argument: any, schema: Json, document: unknown) => string[];

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** What is wrong with the value: a line for each fault, which begins with its JSON Pointer. */
export function findFaults(value: unknown, schema: unknown, document: unknown): string[] {
  assert.ok(isObject(schema), `no schema: ${JSON.stringify(schema)}`);
  const whole = 'properties' in schema ? { additionalProperties: false, ...schema } : schema;
  return Object.entries(whole).flatMap(([keyword, argument]) => {
    const check = CHECKS[keyword];
    assert.ok(check, `a keyword that this validator does not know: ${keyword}`);
    return check(value, argument, whole, document);
  });
}

/** What a `$ref` to a place in the same document points to. */
export function resolve(reference: string, document: unknown): unknown {
  assert.match(reference, /^#\//);
  const tokens = reference.slice(2).split('/').map((token) =>
    token.replaceAll('~1', '/').replaceAll('~0', '~'));
  return tokens.reduce((part: unknown, token) => {
    assert.ok(isObject(part) && Object.hasOwn(part, token), `${reference} leads nowhere`);
    return part[token];
  }, document);
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const noCheck: Check = () => [];

const CHECKS: Readonly<Record<string, Check>> = {
  description: noCheck,
  default: noCheck, // the test of the document checks it as it does examples
  $ref: (value, reference, _, document) =>
    findFaults(value, resolve(reference, document), document),

  type: (value, types) => {
    const names: string[] = [types].flat();
    return expect(names.some((name) => isOfType(value, name)), `is no ${names.join(' or ')}`);
  },
  enum: (value, values: unknown[]) =>
    expect(values.includes(value), `is none of ${values.join(', ')}`),
  const: (value, only) => expect(value === only, `is not ${only}`),

  minimum: (value, least) => expectNumber(value, (number) => number >= least, `below ${least}`),
  maximum: (value, most) => expectNumber(value, (number) => number <= most, `above ${most}`),
  exclusiveMaximum: (value, end) => expectNumber(value, (number) => number < end, `${end} or more`),

  minLength: (value, least) =>
    expectText(value, (text) => [...text].length >= least, `shorter than ${least}`),
  maxLength: (value, most) =>
    expectText(value, (text) => [...text].length <= most, `longer than ${most}`),
  pattern: (value, pattern) =>
    expectText(value, (text) => new RegExp(pattern, 'u').test(text), `not like ${pattern}`),
  format: (value, format) => {
    const isWell = FORMATS[format];
    assert.ok(isWell, `a format that this validator does not know: ${format}`);
    return expectText(value, isWell, `no ${format}`);
  },
  contentMediaType: noCheck, // see contentSchema
  contentSchema: (value, schema, { contentMediaType }, document) => {
    assert.equal(contentMediaType, 'application/x-ndjson');
    if (typeof value !== 'string' || value === '') return [];
    if (!value.endsWith('\n')) return ['does not end with a line break'];
    return value.slice(0, -1).split('\n').flatMap((line, index) =>
      below(index, findFaults(JSON.parse(line), schema, document)));
  },

  required: (value, names: string[]) => !isObject(value) ? [] : names.flatMap((name) =>
    expect(Object.hasOwn(value, name), `lacks ${name}`)),
  properties: (value, properties: Json, _, document) => !isObject(value) ? []
    : Object.entries(value).filter(([name]) => Object.hasOwn(properties, name)).flatMap(
      ([name, member]) => below(name, findFaults(member, properties[name], document))),
  additionalProperties: (value, argument, { properties = {} }, document) => !isObject(value) ? []
    : Object.entries(value).filter(([name]) => !Object.hasOwn(properties as Json, name)).flatMap(
      ([name, member]) => below(name, argument === false
        ? ['is not described'] : findFaults(member, argument, document))),
  propertyNames: (value, schema, _, document) => !isObject(value) ? []
    : Object.keys(value).flatMap((name) => below(name, findFaults(name, schema, document))),

  minItems: (value, least) =>
    expect(!Array.isArray(value) || value.length >= least, `has fewer than ${least}`),
  maxItems: (value, most) =>
    expect(!Array.isArray(value) || value.length <= most, `has more than ${most}`),
  items: (value, schema, _, document) => !Array.isArray(value) ? [] : value.flatMap(
    (item, index) => below(index, findFaults(item, schema, document))),

  allOf: (value, schemas: unknown[], _, document) =>
    schemas.flatMap((schema) => findFaults(value, schema, document)),
  anyOf: (value, schemas: unknown[], _, document) => {
    const faults = schemas.map((schema) => findFaults(value, schema, document));
    return faults.some((list) => list.length === 0) ? [] : faults.flat();
  },
  oneOf: (value, schemas: unknown[], _, document) => {
    const faults = schemas.map((schema) => findFaults(value, schema, document));
    const fitting = faults.filter((list) => list.length === 0).length;
    return fitting === 1 ? [] : [`fits ${fitting} of the schemas`, ...faults.flat()];
  },
  // OpenAPI 3.1 section 4.8.25: a hint, which must name the schema that fits.
  discriminator: (value, { propertyName, mapping }, _, document) => {
    if (!isObject(value)) return [];
    const reference = mapping[String(value[propertyName])];
    if (reference === undefined) return below(propertyName, ['is not in the mapping']);
    return findFaults(value, resolve(reference, document), document);
  },
};

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => TIME.test(text) && !Number.isNaN(Date.parse(text)),
  'uri-reference': (text) => URL.canParse(text, 'http://localhost'),
};

function expect(holds: boolean, fault: string): string[] {
  return holds ? [] : [fault];
}

function expectNumber(value: unknown, holds: (value: number) => boolean, fault: string): string[] {
  return expect(typeof value !== 'number' || holds(value), `is ${fault}`);
}

function expectText(value: unknown, holds: (value: string) => boolean, fault: string): string[] {
  return expect(typeof value !== 'string' || holds(value), `is ${fault}`);
}

function below(name: string | number, faults: readonly string[]): string[] {
  return faults.map((fault) => `/${name}${fault.startsWith('/') ? '' : ' '}${fault}`);
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
    default: throw new Error(`a type that does not exist: ${type}`);
  }
}
