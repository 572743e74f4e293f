/**
 * Makes a server listen on a port, an inherited socket or a Unix socket (unix(7)). A Unix socket is
 * accessible to this process's user and group only, and gets its name once it listens. It replaces
 * the socket of a killed server, but never a socket in use or any other file.
 */
import { once } from 'node:events';
import { chmodSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect, type ListenOptions } from 'node:net';
import { resolve } from 'node:path';
import { isSystemError } from '../../runtime/system-error.ts';

/** Where a server listens. */
export type BindAddress =
  | {
    /** A host name or an address, such as `127.0.0.1`. */
    readonly host: string;
    /** 0 picks a free port. */
    readonly port: number;
  }
  | {
    /** The path of a Unix socket. */
    readonly socketPath: string;
  }
  | {
    /** A socket that this process inherited, by its number. */
    readonly fileDescriptor: number;
  };

const SOCKET_MODE = 0o660;
/** What every operating system accepts. */
const SOCKET_PATH_LIMIT_BYTES = 103;

/**
 * Resolves when the server listens, with a function that releases the address.
 * @throws Error the system's error, or one of the same form
 */
export async function bind(server: Server, address: BindAddress): Promise<() => void> {
  if ('socketPath' in address) return bindUnixSocket(server, address.socketPath);
  if ('fileDescriptor' in address) {
    const { fileDescriptor: fd } = address;
    await listen(server, { fd }).catch((error: unknown) => {
      const message = `Descriptor ${fd} is not a socket on which one can listen.`;
      throw Object.assign(new Error(message, { cause: error }), { syscall: 'listen' });
    });
  } else await listen(server, address);
  return () => {};
}

async function listen(
  server: Server, options: ListenOptions | { readonly fd: number },
): Promise<void> {
  server.listen(options);
  await once(server, 'listening');
}

/** Resolves with a function that removes the socket, unless another one has replaced it. */
async function bindUnixSocket(server: Server, path: string): Promise<() => void> {
  // On close, Node removes whatever is at the path on which it listened.
  const draft = `${path}.${process.pid}`;
  if (Buffer.byteLength(draft) > SOCKET_PATH_LIMIT_BYTES) {
    throw listenError('ENAMETOOLONG', `${path} is too long for a socket: choose a shorter path.`);
  }
  for (const each of [path, draft]) await removeAbandoned(each);
  await listen(server, { path: draft }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES') throw error; // also reported for a missing folder
    throw listenError(error.code, `Cannot create a socket at ${path}: its folder must exist and be`
      + ' writable for the user that runs this server.');
  });
  try {
    chmodSync(draft, SOCKET_MODE);
    renameSync(draft, path);
    const own = lstatSync(path);
    const name = resolve(path); // the process may change its working directory
    return () => {
      const current = lstatSync(name, { throwIfNoEntry: false });
      if (current?.ino === own.ino && current.dev === own.dev) unlinkSync(name);
    };
  } catch (error) {
    server.close();
    throw error;
  }
}

async function removeAbandoned(path: string): Promise<void> {
  const existing = lstatSync(path, { throwIfNoEntry: false });
  if (!existing) return;
  if (!existing.isSocket()) throw listenError('EEXIST', `${path} exists and is not a socket.`);
  if (await isInUse(path)) throw listenError('EADDRINUSE', `Another server listens on ${path}.`);
  unlinkSync(path);
}

async function isInUse(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    if (isSystemError(error, 'EAGAIN')) return true; // its backlog is full
    if (isSystemError(error, 'ECONNREFUSED', 'ENOENT')) return false;
    throw error;
  } finally {
    socket.destroy();
  }
}

function listenError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, syscall: 'listen' });
}
