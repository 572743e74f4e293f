/** The ways to say where a server listens, and to make it do so. */
import type { Server } from 'node:http';
import type { ListenOptions } from 'node:net';
import { bindUnixSocket } from './unix-socket.ts';

/** Where a server listens: a port, a Unix socket, or a socket that this process was given. */
export type BindAddress =
  /** For port 0 a free one is found. */
  | { readonly host: string; readonly port: number }
  | { readonly socketPath: string }
  | { readonly fileDescriptor: number };

/**
 * Resolves once the server listens, with what is to be called when it no longer shall; rejects with
 * the system's error where it cannot, or with one like it.
 */
export async function bind(server: Server, address: BindAddress): Promise<() => void> {
  if ('socketPath' in address) {
    return bindUnixSocket(server, address.socketPath, (path) => listen(server, { path }));
  }
  if (!('fileDescriptor' in address)) {
    await listen(server, address);
    return () => {};
  }
  const { fileDescriptor: fd } = address;
  await listen(server, { fd }).catch((error: unknown) => {
    const message = `Descriptor ${fd} is not a socket on which one can listen.`;
    throw Object.assign(new Error(message, { cause: error }), { syscall: 'listen' });
  });
  return () => {};
}

async function listen(
  server: Server, options: ListenOptions | { readonly fd: number },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
