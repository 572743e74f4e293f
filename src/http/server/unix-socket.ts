/**
 * Listening on a Unix socket (unix(7)), for the user and the group of this process alone. It
 * appears under its name only when it listens and is closed to others. The socket of a server that
 * was killed is taken over; one that somebody answers on, or a file of another kind, never is.
 */
import { chmodSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';

const SOCKET_MODE = 0o660;
/** What every system takes. */
const PATH_LIMIT_BYTES = 103;

/**
 * Resolves with what removes the socket, unless another one is in its place by then. `listen`
 * makes the server listen at a path.
 */
export async function bindUnixSocket(
  server: Server, path: string, listen: (path: string) => Promise<void>,
): Promise<() => void> {
  // Node removes what it was told to listen on when it stops, whatever that is by then.
  const draft = `${path}.${process.pid}`;
  if (Buffer.byteLength(draft) > PATH_LIMIT_BYTES) {
    throw refusal('ENAMETOOLONG', `${path} is too long for a socket: choose a shorter one.`);
  }
  for (const each of [path, draft]) await removeAbandoned(each);
  await listen(draft).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES') throw error; // which stands for a folder that is not there, too
    throw refusal(error.code, `No socket can be made at ${path}: its folder has to be there, and`
      + ' open to the user that runs this server.');
  });
  try {
    chmodSync(draft, SOCKET_MODE);
    renameSync(draft, path);
    const own = lstatSync(path);
    return () => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (found?.ino === own.ino && found.dev === own.dev) unlinkSync(path);
    };
  } catch (error) {
    server.close();
    throw error;
  }
}

async function removeAbandoned(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw refusal('EEXIST', `${path} is there already, and is not a socket.`);
  if (await isAnswered(path)) throw refusal('EADDRINUSE', `Another server listens on ${path}.`);
  unlinkSync(path);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
      else if (error.code === 'EAGAIN') resolve(true); // too many ask at once
      else reject(error);
    });
  });
}

/** An error as the system would give it. */
function refusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, syscall: 'listen' });
}
