#!/usr/bin/env node
/**
 * Starts the command line, `main.ts`. It is plain JavaScript, so that a Node too old for the
 * TypeScript of this project can parse it and say what it needs. A server first replaces its
 * process by one with the right options, which must be set before a process starts: the compile
 * cache saves Node's type stripping, which takes 30 ms and some 20 MiB per thread; a smaller
 * semi-space and a single malloc arena save some 60 MiB during a long import.
 */
import { fileURLToPath } from 'node:url';

/** Beside the source, so that only users who can write to the source can write to the cache. */
const CACHE_FOLDER = fileURLToPath(new URL('../.node/compile-cache', import.meta.url));
const OPTIONS = ['--max-semi-space-size=4']; // MiB, for each thread
const MALLOC_ARENAS = '1';

const { version, versions } = process;
const [major, minor] = versions.node.split('.').map(Number);
if (major > 24 || (major === 24 && minor >= 15)) {
  if (process.argv[2] === 'serve') await replaceProcess();
  await import('./main.ts');
} else {
  process.stderr.write(`Node 24.15 or newer is needed, and this is ${version}. Update Node, or run`
    + ' "make run" in a clone of the project, which downloads a Node of its own.\n');
  process.exitCode = 2;
}

/**
 * Replaces this process by one with these options and the same process id, and does not return.
 * Does nothing if that is impossible, if Node was started with options, with an IPC channel or with
 * coverage, or if systemd passed sockets, which `execve` would close. The single executable has its
 * options and JavaScript inside, and lacks only the environment.
 */
async function replaceProcess() {
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
