/** The address that a request came from. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { readClientAddress } from '../../src/http/client-address.ts';
import { send } from '../support/http.ts';
import { serve } from './raw.ts';

test('is that of the socket, whatever the headers say', async (t) => {
  const port = await serve(t, (request, response) => response.end(readClientAddress(request)));
  const headers = {
    'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1', 'x-real-ip': '192.0.2.1',
    'cf-connecting-ip': '192.0.2.1', 'true-client-ip': '192.0.2.1',
  };
  assert.equal((await send(port, { path: '/', headers })).text, '127.0.0.1');
});

test('is the IPv4 address where the socket reports it mapped into IPv6', () => {
  for (const [remoteAddress, address] of [
    ['::ffff:192.0.2.1', '192.0.2.1'], ['2001:db8::1', '2001:db8::1'], [undefined, ''],
  ] as const) {
    // The cast: all that is read of a request here.
    const request = { socket: { remoteAddress }, headers: {} } as unknown as IncomingMessage;
    assert.equal(readClientAddress(request), address);
  }
});
