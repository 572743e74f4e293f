/**
 * A server runs for months: it should not carry what only its start needs, nor more memory than its
 * work does. Node strips the types of this source by a tool that stays in memory, some 20 MiB for
 * each thread; with Node's compile cache it is needed once, and later starts are quicker too. Less
 * room for new objects, and fewer arenas of the C library, keep a long import some 50 MiB lower.
 * All of this has to be set before a process begins, so this one replaces itself by one for which
 * it is.
 */
import { fileURLToPath } from 'node:url';

/** Beside the source, so that nobody can write to it who could not write to the source. */
const CACHE_FOLDER = fileURLToPath(new URL('../../.node/compile-cache', import.meta.url));
const OPTIONS = ['--max-semi-space-size=4']; // MiB, for each thread
const MALLOC_ARENAS = '1';

/**
 * Does not return where it replaces the process, which keeps its id. Does nothing where that cannot
 * be, where Node was started with options or by another program that watches it, or with coverage;
 * nor where it was given sockets, which would be closed by that.
 */
export function reexecWithNodeOptions(): void {
  const { env, execve, execPath, execArgv, argv } = process;
  const isPlain = execArgv.length === 0 && process.send === undefined;
  const isDecided = [
    'NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE', 'NODE_V8_COVERAGE', 'LISTEN_FDS',
  ].some((name) => env[name] !== undefined);
  if (!execve || !isPlain || isDecided) return;
  execve(execPath, [execPath, ...OPTIONS, ...argv.slice(1)], {
    MALLOC_ARENA_MAX: MALLOC_ARENAS, ...env, NODE_COMPILE_CACHE: CACHE_FOLDER,
  });
}
