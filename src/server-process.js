/**
 * The Node options of a server, which must be set before a process starts: the compile cache saves
 * Node's type stripping, which takes 30 ms and some 20 MiB per thread; a smaller semi-space and a
 * single malloc arena save some 60 MiB during a long import. Plain JavaScript, so that the launcher
 * can import it before Node loads what strips types.
 */
import { fileURLToPath } from 'node:url';

/** Beside the source, so that only users who can write to the source can write to the cache. */
const CACHE_FOLDER = fileURLToPath(new URL('../.node/compile-cache', import.meta.url));
const OPTIONS = ['--max-semi-space-size=4']; // MiB, for each thread
const MALLOC_ARENAS = '1';

/**
 * If the command is `serve`, replaces this process by one with these options and the same process
 * id, and does not return. Does nothing if that is impossible, if Node was started with options,
 * with an IPC channel or with coverage, or if systemd passed sockets, which `execve` would close.
 * The single executable has its options and JavaScript inside, and lacks only the environment.
 */
export async function replaceServerProcess() {
  if (process.argv[2] !== 'serve') return;
  const { isSea } = await import('node:sea');
  const { env, execPath, execve, execArgv, argv } = process;
  const isPlain = isSea() ? env.MALLOC_ARENA_MAX === undefined : execArgv.length === 0;
  const isConfigured = process.send !== undefined || [
    'NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE', 'NODE_V8_COVERAGE', 'LISTEN_FDS',
  ].some((name) => env[name] !== undefined);
  if (!execve || !isPlain || isConfigured) return;
  const program = isSea() ? [execPath] : [execPath, ...OPTIONS, argv[1]];
  execve(execPath, [...program, ...argv.slice(2)], {
    MALLOC_ARENA_MAX: MALLOC_ARENAS, ...env,
    ...!isSea() && { NODE_COMPILE_CACHE: CACHE_FOLDER },
  });
}
