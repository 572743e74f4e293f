/** Requests that Node's parser accepts but that this server rejects, over raw sockets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exchange, open, readToEnd } from '../raw.ts';
import { shareServer } from '../../support/shared-server.ts';

const PATH = '/api/v1/openapi.json';

interface Parts {
  readonly line?: string;
  readonly fields?: readonly string[];
  readonly body?: string;
}

function format({ line = `GET ${PATH} HTTP/1.1`, fields = ['Host: x'], body = '' }: Parts): Buffer {
  return Buffer.from([line, ...fields, '', body].join('\r\n'), 'latin1');
}

const getServer = shareServer({ portal: true });

function readProblem(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  assert.match(head, /\r\nconnection: close(\r\n|$)/i);
  assert.match(head, /\r\ncontent-type: application\/problem\+json(\r\n|$)/i);
  assert.ok(body.length < 500, body);
  return JSON.parse(body);
}

const chunked = 'Transfer-Encoding: chunked';
const CHUNKS = '2\r\n{}\r\n0\r\n\r\n';
const POST = 'POST /api/v1/products HTTP/1.1';
const SINGLE = [
  'Host: x', 'Content-Type: a/b', 'Content-Type: a/b', 'Authorization: a', 'Authorization: b',
  'Cookie: a=1', 'cookie: b=2', 'Origin: a', 'Origin: b',
  'Referer: a', 'Referer: b', 'Sec-Fetch-Site: none', 'Sec-Fetch-Site: same-origin',
  'Sec-Fetch-Mode: a', 'Sec-Fetch-Mode: a', 'Sec-Fetch-Dest: a', 'Sec-Fetch-Dest: a',
  'Sec-Fetch-User: ?1', 'Sec-Fetch-User: ?1', 'Idempotency-Key: a', 'Idempotency-Key: b',
  'Last-Event-ID: 1', 'Last-Event-ID: 2', 'User-Agent: a', 'User-Agent: b',
] as const;

/** Rejected requests, and the detail of the response. */
const refused: Readonly<Record<string, readonly [Parts, RegExp]>> = {
  'two hosts': [{ fields: ['Host: x', 'host: y'] }, /"host" once/],
  'the same host twice': [{ fields: ['Host: x', 'Host: x'] }, /"host" once/],
  'no host': [{ fields: ['X: y'] }, /"host" with/],
  'an empty host': [{ fields: ['Host:'] }, /"host" with/],
  'a host with a path': [{ fields: ['Host: x/y'] }, /"host" with/],
  'a host with a user': [{ fields: ['Host: a@x'] }, /"host" with/],
  'two hosts in one field': [{ fields: ['Host: x, y'] }, /"host" with/],
  'two hosts with a comma but no space': [{ fields: ['Host: x,y'] }, /"host" with/],
  'a host with a port out of range': [{ fields: ['Host: x:65536'] }, /"host" with/],
  'a target in absolute form': [{ line: `GET http://x${PATH} HTTP/1.1` }, /one slash/],
  'a target that begins with two slashes': [{ line: `GET /${PATH} HTTP/1.1` }, /one slash/],
  'a target in asterisk form': [{ line: 'OPTIONS * HTTP/1.1' }, /one slash/],
  'a fragment': [{ line: `GET ${PATH}#a HTTP/1.1` }, /fragment/],
  'a backslash in the path': [{ line: 'GET /api\\v1 HTTP/1.1' }, /backslash/],
  'a dot segment': [{ line: 'GET /api/./v1/openapi.json HTTP/1.1' }, /dot segments/],
  'two dots': [{ line: 'GET /portal/../api/v1/openapi.json HTTP/1.1' }, /dot segments/],
  'two dots at the end': [{ line: 'GET /api/.. HTTP/1.1' }, /dot segments/],
  'dots before a query': [{ line: 'GET /api/..?a=b HTTP/1.1' }, /dot segments/],
  'encoded dots': [{ line: 'GET /portal/%2e%2E/api HTTP/1.1' }, /dot segments/],
  'half-encoded dots': [{ line: 'GET /portal/.%2e/api HTTP/1.1' }, /dot segments/],
  'an encoded dot': [{ line: 'GET /api/v1/products/sku/%2E HTTP/1.1' }, /dot segments/],
  'HTTP/2.0 in HTTP/1.1 syntax': [{ line: `GET ${PATH} HTTP/2.0` }, /HTTP\/1\.1/],
  'HTTP/0.9 with headers': [{ line: `GET ${PATH} HTTP/0.9` }, /HTTP\/1\.1/],
  'a body with GET': [{ fields: ['Host: x', 'Content-Length: 2'], body: '{}' }, /GET without/],
  'chunks with GET': [{ fields: ['Host: x', chunked], body: CHUNKS }, /GET without/],
  'a body with HEAD': [{
    line: `HEAD ${PATH} HTTP/1.1`, fields: ['Host: x', 'Content-Length: 2'], body: '{}',
  }, /^/],
  'an empty chunked body with GET, as some gateways send it': [
    { fields: ['Host: x', chunked], body: '0\r\n\r\n' }, /GET without .*Transfer-Encoding.*gateway/,
  ],
  'a body with DELETE': [{
    line: 'DELETE /api/v1/products/a HTTP/1.1', fields: ['Host: x', 'Content-Length: 2'],
    body: '{}',
  }, /DELETE without/],
  'chunks in HTTP/1.0': [
    { line: 'POST /api/v1/products HTTP/1.0', fields: ['Host: x', chunked], body: CHUNKS },
    /HTTP\/1\.1/,
  ],
  'two transfer codings': [
    { line: POST, fields: ['Host: x', 'Transfer-Encoding: gzip, chunked'], body: CHUNKS },
    /"chunked"/,
  ],
};

describe('rejects with 400, and closes the connection:', () => {
  for (const [kind, [parts, detail]] of Object.entries(refused)) {
    test(kind, async (t) => {
      const text = await exchange(t, getServer().port, format(parts));
      assert.match(text, /^HTTP\/1\.1 400 /);
      if (parts.line?.startsWith('HEAD')) return;
      const problem = readProblem(text);
      assert.match(problem.type, /bad-request$/);
      assert.match(problem.detail, detail);
    });
  }

  const names = new Set(SINGLE.slice(1).map((field) => field.split(':')[0]?.toLowerCase() ?? ''));
  for (const name of names) {
    test(`a duplicate header "${name}"`, async (t) => {
      const own = SINGLE.filter((field) => field.toLowerCase().startsWith(`${name}:`));
      const bytes = format({ fields: ['Host: x', ...own] });
      const problem = readProblem(await exchange(t, getServer().port, bytes));
      assert.equal(problem.detail, `Send the header "${name}" once.`);
    });
  }

  test('dot segments below the portal', async (t) => {
    const line = 'GET /portal/assets/../../api HTTP/1.1';
    const text = await exchange(t, getServer().port, format({ line }));
    assert.match(readProblem(text).detail, /dot segments/);
  });
});

describe('accepts', () => {
  const last = 'Connection: close';
  const taken: Readonly<Record<string, readonly [Parts, RegExp]>> = {
    'a request of HTTP/1.0 without a host': [{ line: `GET ${PATH} HTTP/1.0`, fields: [] }, / 200 /],
    'lists in repeated headers': [{ fields: [
      'Host: x', 'Accept: text/csv', 'Accept: application/json', 'If-None-Match: "1"',
      'If-None-Match: "2"', 'X-Forwarded-For: a', 'X-Forwarded-For: b', last,
    ] }, / 200 /],
    'an IPv6 host with a port': [{ fields: ['Host: [::1]:8080', last] }, / 200 /],
    'a host with the highest port': [{ fields: ['Host: x:65535', last] }, / 200 /],
    'a length of 0 with DELETE': [{
      line: 'DELETE /api/v1/products/a HTTP/1.1', fields: ['Host: x', 'Content-Length: 0', last],
    }, / 401 /],
    'dots as part of a segment': [
      { line: 'GET /api/v1/products/sku/..a%2F..%2Fb HTTP/1.1', fields: ['Host: x', last] },
      / 401 /,
    ],
    'dots in a query': [
      { line: `GET ${PATH}?a=/../b HTTP/1.1`, fields: ['Host: x', last] }, / 400 .*invalid-query/s,
    ],
  };
  for (const [kind, [parts, status]] of Object.entries(taken)) {
    test(kind, async (t) => {
      assert.match(await exchange(t, getServer().port, format(parts)), status);
    });
  }
});

test('ignores requests that follow a rejected one on its connection', async (t) => {
  const seller = await getServer().makeSeller();
  const { id } = (await seller.create()).json();
  const smuggled = format({
    line: `DELETE /api/v1/products/${id} HTTP/1.1`,
    fields: ['Host: x', `X-Api-Key: ${seller.key}`],
  });
  const first = format({ fields: ['Host: x', 'Host: y'] });
  const text = await exchange(t, getServer().port, Buffer.concat([first, smuggled]));
  assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1, text);
  assert.equal((await seller.send({ path: `/api/v1/products/${id}` })).status, 200);
});

test('responds to a rejected request before its whole body has arrived', async (t) => {
  const socket = await open(t, getServer().port);
  const bytes = 512 * 1024;
  const fields = ['Host: x', 'Host: y', `Content-Length: ${bytes}`];
  socket.write(format({ line: POST, fields }));
  const text = readToEnd(socket);
  socket.write(Buffer.alloc(bytes));
  assert.match(readProblem(await text).type, /bad-request$/);
});

test('returns 405 with Allow for methods that a path does not support', async (t) => {
  for (const method of ['TRACE', 'PURGE', 'PROPFIND', 'OPTIONS', 'QUERY', 'FETCH', 'get']) {
    for (const [path, allow] of [
      ['/api/v1/products', 'GET, HEAD, POST'], ['/portal/sign-in', 'GET, HEAD, POST'],
      ['/api/v1/products/a?b', 'DELETE, GET, HEAD, PATCH'], ['/readyz', 'GET, HEAD'],
    ]) {
      const line = `${method} ${path} HTTP/1.1`;
      const fields = ['Host: localhost', 'Connection: close'];
      const text = await exchange(t, getServer().port, format({ line, fields }));
      assert.match(text, /^HTTP\/1\.1 405 /, line);
      assert.match(text, new RegExp(`\r\nallow: ${allow}\r\n`, 'i'), line);
    }
  }
});

test('returns 404 for an unknown method on an unknown path', async (t) => {
  for (const path of ['/', '/nowhere', '/portal/nowhere', 'nowhere']) {
    const text = await exchange(t, getServer().port, format({ line: `FETCH ${path} HTTP/1.1` }));
    assert.match(text, path === '/' ? /^HTTP\/1\.1 405 [^]*\r\nAllow: GET, HEAD\r\n/
      : /^HTTP\/1\.1 404 [^]*not-found/);
  }
});
