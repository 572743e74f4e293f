/**
 * Runs a server so that it ends with the process of the test, however that ends: a shell starts it,
 * waits on a pipe from the test, and kills it when the pipe is closed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { findServerUser } from './install.ts';

/**
 * Starts the command at each line of standard input, and prints its process id. At the end, SIGQUIT
 * is for PostgreSQL, which else waits for its clients, SIGTERM for all others, and SIGKILL for what
 * still runs after 5 seconds.
 */
const GUARD = `
folder=$1; shift
while read -r line; do
  "$@" >>"$folder/log" 2>&1 &
  echo $!
done
server=$!
(sleep 5; kill -KILL $server) >/dev/null 2>&1 &
kill -QUIT $server; kill $server; wait $server; kill $!; rm -rf "$folder"`;

export class GuardedProcess {
  readonly #guard: ChildProcess;
  readonly #input: Socket;
  readonly #output: Socket;

  /** Output goes to the file `log` of the folder, which is removed at the end. */
  constructor(folder: string, command: readonly string[]) {
    this.#guard = spawn('sh', ['-c', GUARD, 'sh', folder, ...command], {
      ...findServerUser(), cwd: '/', detached: true, stdio: ['pipe', 'pipe', 'ignore'],
    });
    // The casts: a pipe to a process is a socket.
    this.#input = this.#guard.stdin as Socket;
    this.#output = this.#guard.stdout as Socket;
    for (const handle of [this.#guard, this.#input, this.#output]) handle.unref();
  }

  /** Starts the server; resolves with its process id. It must not be running. */
  async start(): Promise<number> {
    this.#output.ref();
    this.#input.write('start\n');
    const [line] = await once(this.#output, 'data');
    this.#output.unref();
    return Number(line);
  }

  /** Kills the server; resolves once its folder is removed. */
  async end(): Promise<void> {
    const ended = once(this.#guard, 'exit');
    this.#guard.ref();
    this.#input.end();
    await ended;
  }
}
