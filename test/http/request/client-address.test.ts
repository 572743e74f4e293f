/** The client address of a request, with and without proxies in front of the server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  isLocalClient, readPeerAddress, makeTrustedProxies,
} from '../../../src/http/request/client-address.ts';
import { HEADER_LIMIT_BYTES } from '../../../src/http/limits.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { serve } from '../raw.ts';

/** A hundred times what reading the longest text below takes, but less than its square. */
const CPU_LIMIT_MICROSECONDS = 500_000;
const PROXIES = makeTrustedProxies(['127.0.0.0/8', '10.1.0.0/16', '2001:db8:1::/48']);

interface Fields {
  readonly forwarded?: string;
  readonly 'x-forwarded-for'?: string;
}

/** A request from this peer, with the members that are read. */
function ask(remoteAddress: string | undefined, headers: Fields = {}): IncomingMessage {
  const socket = { remoteAddress, localAddress: remoteAddress, destroyed: false };
  // The cast: nothing else of a request is read.
  return { socket, headers } as unknown as IncomingMessage;
}

/** The client address of a request that a trusted proxy forwards. */
function read(headers: Fields): string {
  return PROXIES.readClientAddress(ask('127.0.0.1', headers));
}

test('is the address of the socket if no proxy is trusted, whatever the headers say', async (t) => {
  const none = makeTrustedProxies([]);
  const port = await serve(t, (message, response) =>
    response.end(none.readClientAddress(message)));
  const headers = {
    'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1', 'x-real-ip': '192.0.2.1',
    'cf-connecting-ip': '192.0.2.1', 'true-client-ip': '192.0.2.1',
  };
  assert.equal((await send(port, { path: '/', headers })).text, '127.0.0.1');
});

test('trusts a Unix socket, but no closed connection and no other without an address', () => {
  const unix = makeTrustedProxies(['unix']);
  const readFrom = (localAddress: string | undefined, destroyed: boolean): string => {
    const socket = { remoteAddress: undefined, localAddress, destroyed };
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    // The cast: nothing else of a request is read.
    return unix.readClientAddress({ socket, headers } as unknown as IncomingMessage);
  };
  assert.equal(readFrom(undefined, false), '192.0.2.1');
  assert.equal(readFrom(undefined, true), '');
  assert.equal(readFrom('127.0.0.1', false), '');
});

test('is the address of the socket unless the peer is a trusted proxy', () => {
  const peer = ask('192.0.2.9', { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' });
  assert.equal(PROXIES.readClientAddress(peer), '192.0.2.9');
  assert.equal(PROXIES.readClientAddress(ask('192.0.2.9', { forwarded: '"' })), '192.0.2.9');
});

test('is the address that the proxy adds, even if the header is repeated', async (t) => {
  const port = await serve(t, (message, response) =>
    response.end(PROXIES.readClientAddress(message)));
  const headers = { 'x-forwarded-for': ['198.51.100.7', '192.0.2.1', '10.1.0.3'] };
  assert.equal((await send(port, { path: '/', headers })).text, '192.0.2.1');
});

test('is the IPv4 address if the socket reports it mapped into IPv6', () => {
  for (const [remoteAddress, address] of [
    ['::ffff:192.0.2.1', '192.0.2.1'], ['2001:db8::1', '2001:db8::1'], [undefined, ''],
  ] as const) {
    assert.equal(readPeerAddress(ask(remoteAddress)), address);
  }
});

describe('is read from the right, past trusted proxies:', () => {
  const cases: readonly (readonly [kind: string, Fields, address: string])[] = [
    ['no header', {}, '127.0.0.1'],
    ['one address', { 'x-forwarded-for': '192.0.2.1' }, '192.0.2.1'],
    ['a forged one before it', { 'x-forwarded-for': '10.1.0.9, 192.0.2.1' }, '192.0.2.1'],
    ['junk before it', { 'x-forwarded-for': '<script>, 192.0.2.1,10.1.2.3' }, '192.0.2.1'],
    ['only proxies', { 'x-forwarded-for': '10.1.0.9, 10.1.0.8' }, '10.1.0.9'],
    ['empty elements', { 'x-forwarded-for': ' , 192.0.2.1,, ' }, '192.0.2.1'],
    ['a port', { 'x-forwarded-for': '192.0.2.1:4711' }, '192.0.2.1'],
    ['IPv6', { 'x-forwarded-for': '2001:DB8::0:1, 2001:db8:1::5' }, '2001:db8::1'],
    ['IPv6 with a port', { 'x-forwarded-for': '[2001:db8::1]:4711' }, '2001:db8::1'],
    ['mapped IPv4', { 'x-forwarded-for': '::FFFF:192.0.2.1' }, '192.0.2.1'],
    ['an unknown one', { 'x-forwarded-for': '192.0.2.1, unknown, 10.1.0.9' }, '10.1.0.9'],
    ['Forwarded', { forwarded: 'for=192.0.2.1' }, '192.0.2.1'],
    ['more parameters', { forwarded: 'For=192.0.2.1;proto=https;by=10.1.0.1, for=10.1.0.2' },
      '192.0.2.1'],
    ['a forged element before it', { forwarded: 'for=10.1.0.9, for=192.0.2.1' }, '192.0.2.1'],
    ['quoted IPv6', { forwarded: 'for="[2001:db8::1]:4711"' }, '2001:db8::1'],
    ['quoted pairs', { forwarded: 'host="a\\"b,for=1.2.3.4";for="192.0.2.\\1"' }, '192.0.2.1'],
    ['an obfuscated one', { forwarded: 'for=192.0.2.1, for=_gazonk, for=10.1.0.9' }, '10.1.0.9'],
    ['an element without "for"', { forwarded: 'for=192.0.2.1, proto=https' }, '127.0.0.1'],
    ['an empty header', { forwarded: '' }, '127.0.0.1'],
    ['two equal headers', { forwarded: 'for=192.0.2.1', 'x-forwarded-for': '192.0.2.1' },
      '192.0.2.1'],
  ];
  for (const [kind, headers, address] of cases) {
    test(kind, () => assert.equal(read(headers), address));
  }
});

describe('is rejected if it is ambiguous:', () => {
  const cases: Readonly<Record<string, Fields>> = {
    'no address': { 'x-forwarded-for': 'localhost' },
    'an address with a zone': { 'x-forwarded-for': 'fe80::1%eth0' },
    'an octet out of range': { 'x-forwarded-for': '192.0.2.256' },
    'an unterminated quoted string': { forwarded: 'for="192.0.2.1' },
    'a quoted string that includes the next element': { forwarded: 'for="x, for="[2001:db8::1]"' },
    'two addresses in one element': { forwarded: 'for=10.1.0.9;for=192.0.2.1' },
    'an address without "for"': { forwarded: '192.0.2.1' },
    'unquoted IPv6': { forwarded: 'for=[2001:db8::1]' },
    'two different headers': { forwarded: 'for=10.1.0.9', 'x-forwarded-for': '192.0.2.1' },
    'an empty header beside an address': { forwarded: '', 'x-forwarded-for': '192.0.2.1' },
  };
  for (const [kind, headers] of Object.entries(cases)) {
    test(kind, () => assert.throws(() => read(headers), { code: 'bad_request' }));
  }

  const texts: Readonly<Record<string, (length: number) => string>> = {
    'an unterminated quoted string': (length) => `a="${'x'.repeat(length)}`,
    'an unterminated quoted string of quoted pairs': (length) => `a="${'\\"'.repeat(length / 2)}`,
    'a parameter without a value': (length) => `a=${'x'.repeat(length)}"`,
    'spaces before an invalid parameter': (length) => `a=b;${' '.repeat(length)}x`,
    'spaces after a parameter': (length) => `a=b${' '.repeat(length)}x`,
  };
  for (const [kind, makeText] of Object.entries(texts)) {
    test(`in linear time for ${kind}, even longer than a header can be`, () => {
      // Grows slowly, so that a pattern that backtracks fails here before it takes long.
      for (let length = 16; length < 4 * HEADER_LIMIT_BYTES; length += Math.ceil(length / 16)) {
        const forwarded = makeText(length);
        const before = process.threadCpuUsage();
        assert.throws(() => read({ forwarded }), { code: 'bad_request' });
        const { user } = process.threadCpuUsage(before);
        assert.ok(user < CPU_LIMIT_MICROSECONDS, `${user} µs of CPU time for ${length} characters`);
      }
    });
  }
});

describe('is on this machine', () => {
  const cases: readonly (readonly [kind: string, peer: string | undefined, Fields, boolean])[] = [
    ['by IPv4', '127.0.0.1', {}, true],
    ['by any address of 127.0.0.0/8', '127.8.9.1', {}, true],
    ['by IPv6', '::1', {}, true],
    ['by IPv4 mapped into IPv6', '::ffff:127.0.0.1', {}, true],
    ['not by another address', '192.0.2.1', {}, false],
    ['not by another address mapped into IPv6', '::ffff:192.0.2.1', {}, false],
    ['not by text that only starts like an address', '127.0.0.1.example', {}, false],
    ['not by a Unix socket, nor once the socket is closed', undefined, {}, false],
    ['not by what another machine forwards', '192.0.2.1', { 'x-forwarded-for': '127.0.0.1' },
      false],
    ['through a proxy for this machine', '127.0.0.1', { 'x-forwarded-for': '::1' }, true],
    ['not through a proxy for another', '127.0.0.1', { 'x-forwarded-for': '192.0.2.1' }, false],
    ['not if the client forged the header before a proxy added to it', '::1',
      { 'x-forwarded-for': '127.0.0.1, 192.0.2.1' }, false],
    ['not if a proxy further away names another', '::1',
      { 'x-forwarded-for': '192.0.2.1, 127.0.0.1' }, false],
    ['not if a proxy hides its client', '::1', { 'x-forwarded-for': 'unknown' }, false],
    ['through a proxy that sends Forwarded', '::1', { forwarded: 'for="[::1]:4711"' }, true],
    ['not if Forwarded names another', '::1', { forwarded: 'for=192.0.2.1' }, false],
    ['not if Forwarded names no client', '::1', { forwarded: 'proto=https' }, false],
    ['not if the two headers differ', '::1',
      { forwarded: 'for=127.0.0.1', 'x-forwarded-for': '192.0.2.1' }, false],
  ];
  for (const [kind, peer, headers, expected] of cases) {
    test(kind, () => assert.equal(isLocalClient(ask(peer, headers)), expected));
  }

  test('is undecided, and an error, for a malformed header', () => {
    assert.throws(() => isLocalClient(ask('::1', { forwarded: 'for="' })), { code: 'bad_request' });
  });
});

test('rejects malformed proxies', () => {
  for (const proxy of ['proxy.example', '10.0.0.0/33', '', 'fe80::1%eth0']) {
    assert.throws(() => makeTrustedProxies([proxy]), { code: 'invalid_data' });
  }
});

for (const [proxies, expected] of [[['unix'], '192.0.2.1'], [['127.0.0.1'], '']] as const) {
  const what = proxies[0] === 'unix' ? 'trusts' : 'ignores';
  test(`${what} a header from a Unix socket with ${proxies.join()}`, async (t) => {
    const trusted = makeTrustedProxies(proxies);
    const server = createServer((message, response) =>
      response.end(trusted.readClientAddress(message)));
    const path = join(makeFolder(t), 'socket');
    server.listen(path);
    await once(server, 'listening');
    t.after(() => server.close());
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const outgoing = request({ socketPath: path, headers, agent: false }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const chunks = await Array.fromAsync(response, String);
    assert.equal(chunks.join(''), expected);
  });
}
