/**
 * How this program is started: its command line, the Node options that a server should run with,
 * and the Node releases that have all security fixes. Node's type stripping keeps some 20 MiB per
 * thread; with the compile cache it runs only once. A smaller semi-space and a single malloc arena
 * save some 50 MiB during a long import. All of this must be set before the process starts.
 */
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import type { Finding } from '../store/sqlite/check/finding.ts';

/** Beside the source, so that only users who can write to the source can write to the cache. */
const CACHE_FOLDER = fileURLToPath(new URL('../../.node/compile-cache', import.meta.url));
const OPTIONS = ['--max-semi-space-size=4']; // MiB, for each thread
const MALLOC_ARENAS = '1';

/** The newest known releases. Update these together with the pinned releases. */
const LINES = [
  { newest: '24.21.0', endOfLife: '2028-04-30' },
  { newest: '25.9.0', endOfLife: '2026-06-01' },
  { newest: '26.10.0', endOfLife: '2029-04-30' },
];
const UPDATE = 'Update Node: only the newest release of a maintained line has all security fixes.';

/**
 * What starts this program, before the name of a command: Node, `options` and `script`; or only the
 * single executable, which contains all of them.
 */
export function listProgram(
  script: string, options: readonly string[] = [],
): readonly [file: string, ...args: string[]] {
  return isSea() ? [process.execPath] : [process.execPath, ...options, script];
}

/**
 * Replaces this process by one with these options and the same process id, and does not return.
 * Does nothing if that is impossible, if Node was started with options, with an IPC channel or with
 * coverage, or if systemd passed sockets, which `execve` would close. The single executable has its
 * options and JavaScript inside, and lacks only the environment.
 */
export function reexecWithNodeOptions(): void {
  const { env, execve, execArgv, argv } = process;
  const isPlain = isSea() ? env['MALLOC_ARENA_MAX'] === undefined : execArgv.length === 0;
  const isConfigured = process.send !== undefined || [
    'NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE', 'NODE_V8_COVERAGE', 'LISTEN_FDS',
  ].some((name) => env[name] !== undefined);
  if (!execve || !isPlain || isConfigured) return;
  const program = listProgram(argv[1] ?? '', OPTIONS);
  execve(program[0], [...program, ...argv.slice(2)], {
    MALLOC_ARENA_MAX: MALLOC_ARENAS, ...env,
    ...!isSea() && { NODE_COMPILE_CACHE: CACHE_FOLDER },
  });
}

/**
 * Warns about a release of Node that lacks security fixes.
 * @param version Such as `v26.10.0`.
 * @param now Milliseconds since 1970.
 */
export function* checkNodeRelease(version: string, now: number): Generator<Finding, void, void> {
  const release = version.replace(/^v/, '');
  const [major] = release.split('.');
  const line = LINES.find(({ newest }) => newest.split('.')[0] === major);
  if (!line) return; // newer than this server; older lines cannot run it
  const { newest, endOfLife } = line;
  if (now >= Date.parse(endOfLife)) {
    yield warn(`Node ${version} has had no security fixes since ${endOfLife}.`);
  } else if (release.localeCompare(newest, 'en', { numeric: true }) < 0) {
    yield warn(`Node ${version} is older than ${newest}.`);
  }
}

function warn(what: string): Finding {
  return { level: 'warning', what, advice: UPDATE };
}
