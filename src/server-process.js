/**
 * What a process needs before it loads anything else: what signals do to it, and the Node options
 * of a server, which must be set before a process starts. The compile cache saves Node's type
 * stripping, which takes 30 ms and some 20 MiB per thread; a smaller semi-space and a single malloc
 * arena save some 60 MiB during a long import. Plain JavaScript, so that the launcher can import it
 * before Node loads what strips types.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Beside the source, so that only users who can write to the source can write to the cache. */
const CACHE_FOLDER = fileURLToPath(new URL('../.node/compile-cache', import.meta.url));
/** MiB, for each thread; and no debugger, also before `handleSignals` runs. */
const OPTIONS = ['--max-semi-space-size=4', '--disable-sigusr1'];
const MALLOC_ARENAS = '1';
const TERMINAL_CHECK_INTERVAL_MS = 250;

/**
 * Keeps SIGUSR1 from opening Node's debugger, through which any local user could run code here.
 * From here to its exit, `serve` takes SIGHUP and SIGUSR2 as requests to reload and to change the
 * log level, or ignores them: by default they would end it at once. A SIGHUP because the terminal
 * hung up is a SIGTERM. Does nothing if it was called before.
 */
export function handleSignals() {
  const ignore = () => {};
  if (process.listeners('SIGUSR1').length > 0) return;
  process.on('SIGUSR1', ignore);
  if (process.argv[2] !== 'serve') return;
  process.on('SIGUSR2', ignore);
  let missed = hasTerminal() ? 0 : Infinity;
  // A server that outlives its terminal (`disown`) is reloaded later, without one.
  if (missed === 0) {
    setInterval(() => { missed = hasTerminal() ? 0 : missed + 1; }, TERMINAL_CHECK_INTERVAL_MS)
      .unref();
  }
  process.on('SIGHUP', () => {
    if (missed < 2 && !hasTerminal()) process.kill(process.pid, 'SIGTERM');
  });
}

/** Whether this process has a controlling terminal, which did not hang up. */
function hasTerminal() {
  try {
    const { O_NOCTTY, O_NONBLOCK } = constants;
    closeSync(openSync('/dev/tty', O_NOCTTY | O_NONBLOCK));
    return true;
  } catch (error) {
    return error.code === 'EMFILE' || error.code === 'ENFILE';
  }
}

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
