/** Every event with which Node's server reports a request, over raw sockets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { LingeringConnections } from '../../../src/http/server/lingering-close.ts';
import { type FindMethods, handleRequests } from '../../../src/http/server/request-rejections.ts';
import { send } from '../../support/http.ts';
import { listenOnFreePort } from '../../support/listening.ts';
import { exchange, open, readToEnd, readUntil } from '../raw.ts';
import { shareServer } from '../../support/shared-server.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

const getWhole = shareServer({ portal: true });

/** Serves like `listen`, but without its limits. */
async function serve(
  t: TestContext, handle: RequestListener, findMethods?: FindMethods,
): Promise<number> {
  const server = createServer();
  handleRequests(server, handle, {
    lingering: new LingeringConnections(), ...(findMethods && { findMethods }),
  });
  return listenOnFreePort(t, server);
}

const answer: RequestListener = (request, response) => {
  request.resume().on('end', () => response.end(`answer to ${request.url}`));
};

describe('returns 405 with Allow, and closes the connection, for', () => {
  const methods = { FETCH: '/', get: '/', 'X-Y_Z': '/a?b' };
  for (const [method, target] of Object.entries(methods)) {
    test(`the unknown method ${method}`, async (t) => {
      const findMethods = async (asked: string) => asked === target ? ['GET', 'POST'] : [];
      const port = await serve(t, answer, findMethods);
      const text = await exchange(t, port, `${method} ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      assert.match(text, /^HTTP\/1\.1 405 Method Not Allowed\r\nConnection: close\r\n/);
      assert.match(text, /urn:problem-type:seller-product-api:method-not-allowed/);
      assert.match(text, /\r\nAllow: GET, POST\r\n/);
    });
  }

  test('CONNECT', async (t) => {
    const port = await serve(t, answer);
    const text = await exchange(t, port, 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\nmore');
    assert.match(text, /^HTTP\/1\.1 405 .*\r\nAllow: GET, .*not a proxy/s);
  });

  test('CONNECT, and continues to serve if its client disconnects', async (t) => {
    const port = await serve(t, answer);
    for (let round = 0; round < 20; round += 1) {
      const socket = await open(t, port);
      socket.write('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n');
      if (round % 2 === 0) await readUntil(socket, '405');
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    assert.equal((await send(port, { path: '/' })).text, 'answer to /');
  });
});

test('returns 501 for an unknown method without `findMethods`, or if it fails', async (t) => {
  const fail = () => Promise.reject(new Error('The pages cannot be loaded.'));
  for (const findMethods of [undefined, fail]) {
    const port = await serve(t, answer, findMethods);
    const text = await exchange(t, port, 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.match(text, /^HTTP\/1\.1 501 Not Implemented\r\nConnection: close\r\n/);
  }
});

describe('a request for another protocol', () => {
  for (const [protocol, more] of [['websocket', ''], ['h2c', 'HTTP2-Settings: AAMAAABk\r\n']]) {
    test(`is answered over HTTP/1.1, as the last on its connection (${protocol})`, async (t) => {
      const fields = `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n${more}`;
      const text = await exchange(
        t, getWhole().port, `GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n${fields}\r\n${GET}`,
      );
      assert.match(text, /^HTTP\/1\.1 200 OK\r\n.*^connection: close\r$/ims);
      assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1);
    });
  }
});

describe('pipelined requests', () => {
  test('all get a response, up to a hundred', async (t) => {
    const port = await serve(t, answer);
    const socket = await open(t, port);
    for (let round = 0; round < 2; round += 1) {
      socket.write(`${GET.repeat(99)}GET /last-${round} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const text = await readUntil(socket, `answer to /last-${round}`);
      assert.equal(text.match(/answer to \//g)?.length, 100);
    }
  });

  test('over a hundred reset the connection, and only a hundred are processed', async (t) => {
    let seen = 0;
    const port = await serve(t, () => { seen += 1; });
    const socket = await open(t, port);
    socket.write(GET.repeat(1_000));
    await assert.rejects(readToEnd(socket), { code: 'ECONNRESET' });
    assert.equal(seen, 100);
  });
});

describe('a malformed request', () => {
  test('gets its response after those of the valid requests before it', async (t) => {
    const waiting: (() => void)[] = [];
    const port = await serve(t, ({ url }, response) => {
      waiting.push(() => response.end(`answer to ${url}`));
    });
    const socket = await open(t, port);
    const text = readToEnd(socket);
    socket.write(GET + GET.replace('/', '/second') + 'NONSENSE\r\n\r\nmore\r\n');
    // A request on another connection reaches the handler after it.
    const other = send(port, { path: '/other' });
    while (waiting.length < 3) await new Promise((resolve) => setImmediate(resolve));
    socket.write('and more nonsense\r\n\r\n'); // is reported again
    for (const finish of waiting) finish();
    assert.equal((await other).status, 200);
    assert.match(await text, /200 OK.*answer to \/HTTP.*answer to \/secondHTTP\/1\.1 400 Bad/s);
  });

  test('in a body gets its response after earlier requests', async (t) => {
    let finish = (): void => {};
    const second = Promise.withResolvers<void>();
    const port = await serve(t, (request, response) => {
      if (request.method === 'GET') finish = () => response.end('the answer');
      else second.resolve();
    });
    const socket = await open(t, port);
    const text = readToEnd(socket);
    const post = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(`${GET}${post}zz\r\n`);
    await second.promise;
    finish();
    assert.match(await text, /200 OK.*the answerHTTP\/1\.1 400 Bad/s);
  });

  test('in a body whose response has begun resets the connection', async (t) => {
    const port = await serve(t, (_, response) => response.write('the beginning'));
    const socket = await open(t, port);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const begin = await readUntil(socket, 'beginning');
    assert.match(begin, /^HTTP\/1\.1 200 /);
    socket.write('zz\r\n');
    await assert.rejects(readToEnd(socket), { code: 'ECONNRESET' });
  });

  test('in a body whose response has ended closes the connection, and adds no error', async (t) => {
    const port = await serve(t, (_, response) => response.end('the answer'));
    const socket = await open(t, port);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    await readUntil(socket, 'the answer');
    socket.write('zz\r\n');
    assert.equal(await readToEnd(socket), '');
  });
});

describe('Expect', () => {
  const head = (path: string, ...fields: readonly string[]): string =>
    [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Length: 2', ...fields, '', ''].join('\r\n');
  const json = 'Content-Type: application/json';

  test('gets 100 Continue once the request was checked, and keeps the connection', async (t) => {
    const { key } = await getWhole().makeSeller();
    const socket = await open(t, getWhole().port);
    const fields = ['Expect: 100-continue', json, `X-Api-Key: ${key}`];
    socket.write(head('/api/v1/products', ...fields));
    assert.equal(await readUntil(socket, '\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{}');
    assert.match(await readUntil(socket, 'invalid-data'), /^HTTP\/1\.1 400 /);
    socket.write(head('/api/v1/products', ...fields));
    assert.match(await readUntil(socket, '\r\n\r\n'), /^HTTP\/1\.1 100 /);
  });

  test('gets no 100 Continue for a rejected request, whose connection is closed', async (t) => {
    for (const [path, status, ...fields] of [
      ['/api/v1/products', 401, json], ['/nowhere', 404], ['/portal', 405],
      ['/portal/sign-in', 403, 'Sec-Fetch-Site: cross-site'], ['/api/v1/products', 400, 'Host: y'],
    ] as const) {
      const bytes = head(path, 'Expect: 100-continue', ...fields);
      const text = await exchange(t, getWhole().port, bytes.replace('Host: x', 'Host: localhost'));
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} .*\r\nconnection: close\r\n`, 'is'));
    }
  });

  test('with any other value gets 417', async (t) => {
    for (const expect of ['200-ok', '100-continue, 200-ok', '100-continue\r\nExpect: other']) {
      const bytes = head('/api/v1/products', `Expect: ${expect}`);
      const text = await exchange(t, getWhole().port, bytes);
      assert.match(text, /^HTTP\/1\.1 417 .*\r\nconnection: close\r\n.*expectation-failed/is);
    }
  });
});
