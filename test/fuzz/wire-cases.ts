/**
 * Raw requests against the HTTP parser and its limits: invalid request lines, headers and framing,
 * pipelined requests, and requests that are cut off.
 */
import type { Random } from '../domain/random.ts';
import { type Case, pickAddress } from './case.ts';
import { mutateBytes, SPLIT_FIELD, TEXTS } from './values.ts';
import type { World } from './world.ts';

const LIST = '/api/v1/products';

const LINES: readonly string[] = [
  'GET / HTTP/1.1', 'GET  /api/v1/products HTTP/1.1', 'GET /api/v1/products HTTP/1.0',
  'GET /api/v1/products HTTP/0.9', 'GET /api/v1/products HTTP/2.0', 'GET /api/v1/products',
  'GET http://127.0.0.1/api/v1/products HTTP/1.1', 'GET //api/v1/products HTTP/1.1',
  'GET //evil.example/%2e%2e HTTP/1.1', 'GET /api/v1/../v1/products HTTP/1.1', 'OPTIONS * HTTP/1.1',
  'GET /api/v1/./products HTTP/1.1', 'GET /api/v1/%2e%2e/products HTTP/1.1', 'GET * HTTP/1.1',
  'CONNECT 127.0.0.1:80 HTTP/1.1', 'TRACE /api/v1/products HTTP/1.1', 'get / HTTP/1.1',
  'PRI * HTTP/2.0', 'GET /api/v1/products#x HTTP/1.1', 'GET /%00 HTTP/1.1', 'GET /\u00ff HTTP/1.1',
  'GET /api/v1/products?q=%zz HTTP/1.1', 'GET \\api HTTP/1.1', `GET /${'a'.repeat(9_000)} HTTP/1.1`,
  `GET /api/v1/products?q=${'a'.repeat(9_000)} HTTP/1.1`, `${'A'.repeat(9_000)} / HTTP/1.1`,
  'PROPFIND / HTTP/1.1', 'QUERY /api/v1/products HTTP/1.1', 'GET /portal HTTP/1.1', '',
  'GET /metrics HTTP/1.1', 'GET /healthz?x HTTP/1.1', 'POST /readyz HTTP/1.1',
  'GET /portal//x HTTP/1.1', 'GET :80 HTTP/1.1', 'POST ? HTTP/1.1',
];

const FIELDS: readonly string[] = [
  'host:', 'host: 127.0.0.1', 'host: a, b', 'Host : x', 'host: [', 'host: 127.0.0.1:99999',
  'content-length: 5', 'content-length: 5, 5', 'content-length: -1', 'content-length: +3',
  'content-length: 0x3', 'content-length: 99999999999999999999', 'content-length: ',
  'transfer-encoding: chunked', 'transfer-encoding: chunked, identity',
  'transfer-encoding:\tchunked',
  'transfer-encoding: xchunked', 'transfer-encoding: gzip, chunked', 'Transfer-Encoding : chunked',
  'expect: 100-continue', 'expect: 200-ok', 'upgrade: websocket', 'connection: upgrade',
  'upgrade: h2c', 'connection: close, x-api-key', 'connection: keep-alive', 'te: trailers',
  'trailer: x-api-key', ' folded', '\tfolded', 'no colon', ': no name', 'a b: c', 'x\u0000: y',
  'x: \u0000', 'x: a\rb', 'x-api-key: spk_', `x: ${'y'.repeat(20_000)}`, '__proto__: x',
  'constructor: x', 'cookie: __Host-session=x', 'content-type: application/json', 'x: \u00ff',
  'content-encoding: gzip', 'if-match: "', 'range: bytes=0-0', `x: y\r\n\r\n${SPLIT_FIELD}: 1`,
];

const BODIES: readonly string[] = [
  '5\r\nhello\r\n0\r\n\r\n', '5;a=b\r\nhello\r\n0\r\n\r\n', '0\r\n\r\n', '0\r\nx: y\r\n\r\n',
  'g\r\n', '-1\r\n', 'fffffffffffffffff\r\n', '5\r\nhel', '5\nhello\n0\n\n',
  '0005\r\nhello\r\n0\r\n\r\n',
  `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`, '{}', 'hello', '{"name":', '\r\n\r\n', '',
  '0\r\nx-api-key: a\r\n\r\nGET / HTTP/1.1\r\n\r\n', '5\r\nhelloX0\r\n\r\n',
];

export function makeWireCase(random: Random, world: World): Case {
  const requests = Array.from({ length: random.below(4) === 0 ? 1 + random.below(6) : 1 },
    () => makeRequest(random, world));
  const whole = Buffer.concat(requests);
  const mutated = random.below(3) === 0 ? mutateBytes(random, whole) : whole;
  const isCut = random.below(6) === 0;
  return {
    // No method, as a complete response to HEAD looks like a truncated one to GET.
    label: 'bytes', method: '', isPage: false, from: pickAddress(random), until: 'end',
    bytes: isCut ? mutated.subarray(0, random.below(mutated.length + 1)) : mutated,
  };
}

function makeRequest(random: Random, { keys: [key] }: World): Buffer {
  const sku = `w-${random.below(40)}`;
  const product = `{"name":"a","category":"b","sku":"${sku}","price":1,"stock":1}`;
  const [line, body] = random.pick([
    [`GET ${LIST} HTTP/1.1`, undefined], [`POST ${LIST} HTTP/1.1`, product],
    [`PUT ${LIST}/sku/${sku} HTTP/1.1`, product], [`DELETE ${LIST}/sku/${sku} HTTP/1.1`, undefined],
    [`POST ${LIST}/import HTTP/1.1`, `${product}\n`], ['GET /portal HTTP/1.1', undefined],
    ['POST /portal/sign-out HTTP/1.1', 'csrf=x'],
  ] as const);
  const type = line.includes('import') ? 'application/x-ndjson' : 'application/json';
  const isOddLine = random.below(4) === 0;
  const lines: string[] = [isOddLine ? random.pick(LINES) : line];
  if (random.below(15) > 0) lines.push('host: 127.0.0.1');
  lines.push(`x-api-key: ${key}`);
  let content: string = body ?? '';
  if (body !== undefined) lines.push(`content-type: ${type}`);
  if (random.below(8) === 0) {
    content = random.pick(BODIES);
    lines.push(random.pick(['transfer-encoding: chunked', `content-length: ${content.length}`]));
  } else if (content !== '') {
    lines.push(`content-length: ${Buffer.byteLength(content)}`);
  }
  for (let count = random.below(3); count > 0; count -= 1) {
    const at = random.below(8) === 0 ? 0 : 1 + random.below(lines.length);
    const field = random.below(5) > 0 ? random.pick(FIELDS) : `x: ${random.pick(TEXTS)}`;
    lines.splice(at, 0, field);
  }
  if (random.below(60) === 0) {
    for (let n = 0; n < 150; n += 1) lines.push(`x-${n}: ${n}`);
  }
  const end = random.below(20) === 0 ? random.pick(['\n', '\r', '\r\r\n']) : '\r\n';
  return Buffer.from(`${lines.join(end)}${end}${end}${content}`, random.pick(['utf8', 'latin1']));
}
