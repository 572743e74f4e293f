/**
 * A server runs for months: it should not carry what only its start needs. Node strips the types
 * of this source by a tool that stays in memory, some 20 MiB for each thread. With Node's compile
 * cache it is needed once, and later starts are quicker too. The cache has to be on before the
 * first file is read, so the process replaces itself by one for which it is.
 */
import { fileURLToPath } from 'node:url';

/** Beside the source, so that nobody can write to it who could not write to the source. */
const FOLDER = fileURLToPath(new URL('../../.node/compile-cache', import.meta.url));

/**
 * Does not return where it replaces the process, which keeps its id. Does nothing where that cannot
 * be, where Node was started with options or by another program that watches it, or with coverage.
 */
export function restartWithCompileCache(): void {
  const { env, execve, execPath, execArgv, argv } = process;
  const isPlain = execArgv.length === 0 && process.send === undefined;
  const isDecided = ['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE', 'NODE_V8_COVERAGE']
    .some((name) => env[name] !== undefined);
  if (!execve || !isPlain || isDecided) return;
  execve(execPath, [execPath, ...argv.slice(1)], { ...env, NODE_COMPILE_CACHE: FOLDER });
}
