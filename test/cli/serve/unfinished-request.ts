/** A request whose body is not complete, so that a server that stops has to wait for it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Serving } from '../../support/command.ts';

export const PATH = '/api/v1/products';
const BODY = JSON.stringify({ name: 'A', category: 'B', sku: 'C', price: 1, stock: 1 });

interface UnfinishedRequest {
  readonly socket: Socket;
  /** Everything that the client receives until the connection closes. */
  readonly answer: Promise<string>;
  /** Sends the rest. */
  finish(): void;
}

/** Sends a request without the end of its body, once the server has sent 100 Continue. */
export async function beginRequest(
  { port }: Pick<Serving, 'port'>, key: string,
): Promise<UnfinishedRequest> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write([
    `POST ${PATH} HTTP/1.1`, 'Host: 127.0.0.1', `X-Api-Key: ${key}`, 'Expect: 100-continue',
    'Content-Type: application/json', `Content-Length: ${BODY.length}`, '', '',
  ].join('\r\n'));
  const [first] = await once(socket, 'data');
  assert.match(String(first), /^HTTP\/1\.1 100 Continue/);
  socket.write(BODY.slice(0, 10));
  let text = '';
  socket.on('data', (chunk: string) => { text += chunk; });
  const answer = new Promise<string>((resolve) => { socket.on('close', () => resolve(text)); });
  return { socket, answer, finish: () => void socket.write(BODY.slice(10)) };
}
