/**
 * API requests, generated from the route table and the OpenAPI document, so new routes are covered
 * at once. Each starts as a valid request and has some of its parts corrupted.
 */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Route } from '../../src/api/route.ts';
import { routes } from '../support/routes.ts';
import { dig, listOperations } from '../features/openapi/openapi-document.ts';
import { isObject } from '../features/openapi/json-schema.ts';
import type { Random } from '../domain/random.ts';
import { type Case, formatRequest, pickAddress } from './case.ts';
import { makeCsv, makeProductLines, makeStockLines, writeObject } from './files.ts';
import { JSON_TEXTS, pickText, mutateBytes, TEXTS } from './values.ts';
import type { World } from './world.ts';

const ACCEPTS = ['*/*', 'application/json', 'text/csv', 'application/x-ndjson', 'text/html',
  'text/csv;q=0, */*;q=0.1', 'application/*;q=0.5, text/csv', ',,;q=2', 'text/event-stream;q=0'];
const TYPES = ['application/json', 'application/json; charset=utf-8', 'text/csv',
  'application/x-ndjson', 'application/merge-patch+json', 'application/json; charset=latin1',
  'multipart/form-data; boundary=x', 'text/plain', 'APPLICATION/JSON', 'application', ';', ''];

const taking = routes.filter(({ consumes }) => consumes.length > 0);

export function makeApiCase(random: Random, world: World): Case {
  // Routes with a request body have more ways to fail, so they are picked more often.
  const route = random.pick(random.below(2) === 0 ? routes : taking);
  const method = pickMethod(random, route);
  const path = fillPath(random, world, route.path);
  const query = makeQuery(random, world, route);
  const wanted = pickAccept(random, route);
  const glances = wanted === 'text/event-stream' || query.includes('wait=');
  const content = method === 'GET' || method === 'HEAD' ? undefined
    : makeContent(random, world, route);
  const fields: (readonly [string, string])[] = [
    ['host', '127.0.0.1'],
    ...keyFields(random, world),
    ...(wanted === undefined ? [] : [['accept', wanted] as const]),
    ...conditionFields(random, world),
    ...content?.fields ?? [],
    ...oddFields(random),
  ];
  const target = query === '' ? path : `${path}?${query}`;
  return {
    label: `${method} ${route.path}`, method, isPage: false,
    from: pickAddress(random), until: glances ? 'glance' : 'answer',
    operation: { method, path: route.path },
    bytes: formatRequest(random, {
      method, target, fields, body: content?.body, isChunked: random.below(4) === 0,
    }),
  };
}

function pickMethod(random: Random, { method }: Route): string {
  if (random.below(30) === 0) {
    return random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']);
  }
  return method === 'GET' && random.below(6) === 0 ? 'HEAD' : method;
}

function fillPath(random: Random, { pool }: World, pattern: string): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const kind = random.below(5) === 0 ? 'foreign' : name;
    const value = random.below(4) === 0
      ? pickText(random, pool.list(name)) : pool.pick(random, kind, 'MUG-1');
    return encode(value);
  });
}

function makeQuery(random: Random, { pool }: World, { query }: Route): string {
  const sent = Object.entries(query).filter(() => random.below(3) === 0);
  const pairs = sent.map(([name, { example }]) => {
    const known = [String(example), ...pool.list(name)];
    if (name === 'wait') return [name, random.pick(['0', '1', '30', 'x'])] as const;
    if (name === 'cursor') known.push(...pool.list('foreign'));
    return [name, random.below(3) > 0 ? random.pick(known) : pickText(random, known)] as const;
  });
  const [first] = pairs;
  if (first && random.below(20) === 0) pairs.push(first);
  if (random.below(20) === 0) pairs.push([pickText(random), pickText(random)]);
  const text = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  if (random.below(25) > 0) return text;
  return mutateBytes(random, Buffer.from(text)).toString('latin1').replaceAll(/[^!-~]/g, '%');
}

/** Percent-encoded, with lone surrogates as in WTF-8. */
export function encode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text)
    : `${encodeURIComponent(text.toWellFormed())}%ED%A0%80`;
}

function pickAccept(random: Random, { produces }: Route): string | undefined {
  if (random.below(3) === 0) return undefined;
  return random.below(3) > 0 && produces.length > 0 ? random.pick(produces)
    : pickText(random, ACCEPTS);
}

function keyFields(random: Random, { keys }: World): (readonly [string, string])[] {
  const [whole] = keys;
  switch (random.below(20)) {
    case 0: return [];
    case 1: return [['x-api-key', random.pick(keys)]];
    case 2: return [['x-api-key', pickText(random, keys)]];
    case 3: return [['x-api-key', whole], ['X-API-KEY', random.pick(keys)]];
    default: return [['x-api-key', whole]];
  }
}

function conditionFields(random: Random, { pool }: World): (readonly [string, string])[] {
  const tags = ['*', '"1"', 'W/"2"', '"1-gzip"', '"3", "4"', ...pool.list('tag')];
  const fields: (readonly [string, string])[] = [];
  const maybe = (name: string, often: number, known: readonly string[]): void => {
    if (random.below(often) === 0) fields.push([name, pickText(random, known)]);
  };
  maybe('if-match', 6, tags);
  maybe('if-none-match', 8, tags);
  maybe('idempotency-key', 6, ['"once"', 'twice', '"a\\"b"', 'x'.repeat(255), 'x'.repeat(256)]);
  maybe('accept-encoding', 4, ['gzip', 'br', 'gzip;q=0, br', '*', 'identity;q=0', 'zstd']);
  return fields;
}

const ODD_FIELDS: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['origin', ['https://shop.example', 'null']], ['sec-fetch-site', ['cross-site', 'none']],
  ['last-event-id', ['0', '3', '-1', '99999999']], ['cookie', ['__Host-session=x', '=;;=']],
  ['x-forwarded-for', ['192.0.2.1', '127.0.0.1, ::1']], ['forwarded', ['for=192.0.2.1']],
  ['accept-language', ['de-CH, en;q=0.5', 'tlh']], ['range', ['bytes=0-1', 'bytes=-']],
  ['expect', ['100-continue', '200-ok']], ['if-modified-since', ['Sat, 01 Jan 2000 00:00:00 GMT']],
  ['traceparent', ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '00-0-0-0']],
  ['x-http-method-override', ['DELETE']], ['prefer', ['wait=100', 'return=minimal']],
  ['content-location', ['/api/v1/products']], ['__proto__', ['polluted']],
];

function oddFields(random: Random): (readonly [string, string])[] {
  if (random.below(5) > 0) return [];
  const [name, values] = random.pick(ODD_FIELDS);
  return [[name, pickText(random, values)]];
}

interface Content {
  readonly fields: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

function makeContent(random: Random, world: World, route: Route): Content | undefined {
  if (route.consumes.length === 0 && random.below(8) > 0) return undefined;
  const type = route.consumes.length > 0 ? random.pick(route.consumes) : 'application/json';
  const plain = makeBody(random, world, route, type);
  const sent = random.below(12) === 0 ? pickText(random, TYPES) : type;
  const fields: (readonly [string, string])[] = [['content-type', sent]];
  if (random.below(8) > 0) return { fields, body: plain };
  const coding = random.pick(['gzip', 'br', 'identity', 'deflate', 'gzip, gzip', 'x', '']);
  const coded = coding === 'gzip' ? gzipSync(plain)
    : coding === 'br' ? brotliCompressSync(plain) : plain;
  const body = random.below(4) === 0 ? mutateBytes(random, coded) : coded;
  return { fields: [...fields, ['content-encoding', coding]], body };
}

function makeBody(random: Random, world: World, route: Route, type: string): Buffer {
  const { pool } = world;
  if (random.below(30) === 0) return Buffer.from(random.pick(JSON_TEXTS));
  if (random.below(200) === 0) return Buffer.alloc(70_000 + random.below(2_200_000), ' ');
  if (type === 'text/csv') return makeCsv(random, pool);
  const isStock = route.path.endsWith('/stock');
  if (type === 'application/x-ndjson') {
    return isStock ? makeStockLines(random, pool) : makeProductLines(random, pool);
  }
  const text = writeObject(random, membersOf(random, world, route, type));
  // A mutated address could be the address of another machine.
  const isMutated = random.below(12) === 0 && !text.includes('127.0.0.1');
  return isMutated ? mutateBytes(random, Buffer.from(text)) : Buffer.from(text);
}

/** The body of the document's example, with ids that exist. */
function membersOf(
  random: Random, { document, pool }: World, route: Route, type: string,
): Record<string, string> {
  const entry = listOperations(document).find(({ method, path }) =>
    method === route.method && path === route.path);
  if (!isObject(entry?.operation['requestBody'])) return { a: '1' };
  const { example } = dig(document, entry.operation, 'requestBody', 'content', type);
  if (!isObject(example)) return { a: '1' };
  const members: Record<string, string> = {};
  for (const [name, value] of Object.entries(example)) members[name] = JSON.stringify(value);
  // A loopback address on a port where nothing listens.
  if ('url' in members) members['url'] = `"http://127.0.0.1:9/${random.below(30)}"`;
  if ('sku' in members) {
    members['sku'] = JSON.stringify(random.below(2) === 0
      ? `new-${random.below(10_000)}` : pool.pick(random, 'sku', random.pick(TEXTS)));
  }
  // The SKU is in the path, so the body mostly leaves it out.
  if (route.path.endsWith('{sku}') && random.below(4) > 0) delete members['sku'];
  for (const name of ['price', 'stock', 'position']) {
    if (name in members) members[name] = String(random.below(2_000) / random.pick([1, 10, 100]));
  }
  if ('changes' in members) members['changes'] = makeChanges(random, pool);
  return members;
}

function makeChanges(random: Random, pool: World['pool']): string {
  const changes = Array.from({ length: random.below(5) }, () => writeObject(random, {
    sku: JSON.stringify(pool.pick(random, 'sku', 'MUG-1')),
    [random.pick(['set', 'adjust'])]: String(random.below(40) - 5),
    ...(random.below(4) === 0 && { if: String(random.below(9)) }),
  }));
  return `[${changes.join(',')}]`;
}
