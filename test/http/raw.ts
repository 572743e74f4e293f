/** A bare `node:http` server for one test, and a client that sends it raw bytes. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { listenUntilEnd } from '../support/listening.ts';

/** Serves on a free port until the test ends, which also closes all connections. */
export async function serve(
  t: Pick<TestContext, 'after'>, handle: RequestListener,
): Promise<number> {
  return Number(new URL(await listenUntilEnd(t, handle)).port);
}

/** Opens a connection, which is closed when the test ends. */
export async function open(t: Pick<TestContext, 'after'>, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Sends these bytes and reads until the server closes the connection. */
export async function exchange(
  t: Pick<TestContext, 'after'>, port: number, bytes: string | Uint8Array,
): Promise<string> {
  const socket = await open(t, port);
  socket.write(bytes);
  return readToEnd(socket);
}

/** Reads until the connection ends. */
export async function readToEnd(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8');
  for await (const chunk of socket) text += String(chunk);
  return text;
}

/** Reads until this text was received; the connection stays open. */
export function readUntil(socket: Socket, wanted: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: Buffer): void => {
      text += chunk.toString();
      if (!text.includes(wanted)) return;
      socket.off('data', onData);
      resolve(text);
    };
    socket.on('data', onData);
    socket.once('close', () => reject(new Error(`The connection ended after: ${text}`)));
  });
}
