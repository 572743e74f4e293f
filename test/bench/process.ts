/**
 * Starts the servers that are measured, each in a process of its own and as a user starts it: no
 * IPC channel and no Node options, so `serve` replaces itself by a process with its own options.
 * Reads what a process uses from `/proc`, which only Linux has.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

export interface Running {
  readonly port: number;
  /** Milliseconds from the start of the process until it listened. */
  readonly startMs: number;
  readonly child: ChildProcess;
  /** Resident memory, MiB; NaN without `/proc`. */
  memory(): number;
  /** The highest resident memory since the start, MiB; NaN without `/proc`. */
  peakMemory(): number;
  /** CPU time of all threads since the start, microseconds; NaN without `/proc`. */
  cpuTime(): number;
  /** Milliseconds that its main thread ran, and waited for a core; NaN without `/proc`. */
  mainThread(): { readonly ranMs: number; readonly waitedMs: number };
  stop(): Promise<void>;
}

/** Linux counts CPU time in ticks of 10 ms. */
const TICK_US = 10_000;
const ERRORS_KEPT_CHARACTERS = 4_000;

export function startFloor(): Promise<Running> {
  return start([pathOf('floor/http.ts')], ['ignore', 'pipe', 'pipe'], (line) => Number(line));
}

/** Starts `serve` with a data folder and no rate limit. */
export function startServer(folder: string, flags: readonly string[] = []): Promise<Running> {
  return start(serve(folder, flags), ['ignore', 'pipe', 'pipe'], readServerPort);
}

/**
 * Starts `serve` with a module in its main thread, and an IPC channel to that module. Such a
 * process does not replace itself, so it gets the options of a server here.
 */
export function startMonitoredServer(
  folder: string, flags: readonly string[], monitor: URL,
): Promise<Running> {
  const nodeOptions = ['--max-semi-space-size=4', '--import', monitor.href];
  return start(
    [...nodeOptions, ...serve(folder, flags)], ['ignore', 'pipe', 'pipe', 'ipc'], readServerPort,
    { MALLOC_ARENA_MAX: '1' });
}

/** Runs a command of the command line that prints one JSON document. */
export function runCommand(...args: string[]): Record<string, string> {
  const main = pathOf('../../src/main.ts');
  const line = [main, ...args, '--json'];
  return JSON.parse(execFileSync(process.execPath, line, { encoding: 'utf8' }));
}

function serve(folder: string, flags: readonly string[]): string[] {
  const main = pathOf('../../src/seller-api.js');
  return [main, 'serve', '--port', '0', '--data', folder, '--rate-limit', '0', '--json', ...flags];
}

function readServerPort(line: string): number {
  return Number(new URL(JSON.parse(line).url).port);
}

async function start(
  args: readonly string[], stdio: ('ignore' | 'pipe' | 'ipc')[],
  readPort: (line: string) => number, environment: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const begin = performance.now();
  const child = spawn(process.execPath, args, { stdio, env: { ...process.env, ...environment } });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-ERRORS_KEPT_CHARACTERS);
  });
  const kill = (): void => void child.kill();
  process.once('exit', kill); // where the benchmark itself fails
  const explain = (code: number | null, signal: NodeJS.Signals | null): never => {
    // Uncaught, so it ends the benchmark: nothing can be measured without the server.
    throw new Error(`${args.join(' ')} ended with ${signal ?? code}.\n${errors}`);
  };
  child.once('close', explain);
  const [line] = await once(child.stdout ?? child, 'data');
  const startMs = performance.now() - begin;
  child.stdout?.resume();
  return {
    port: readPort(String(line)), startMs, child,
    memory: () => readMemory(child, 'VmRSS'),
    peakMemory: () => readMemory(child, 'VmHWM'),
    cpuTime: () => readCpuTime(child),
    mainThread: () => readMainThread(child),
    async stop() {
      process.off('exit', kill);
      child.off('close', explain);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function readMemory(child: ChildProcess, field: 'VmRSS' | 'VmHWM'): number {
  const status = readProcess(child, 'status');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? NaN) / 1024;
}

function readCpuTime(child: ChildProcess): number {
  // The name of the program, in parentheses, is the only field that may contain spaces.
  const fields = readProcess(child, 'stat').split(') ')[1]?.split(' ') ?? [];
  const [user = NaN, system = NaN] = [fields[11], fields[12]].map(Number);
  return (user + system) * TICK_US;
}

/** Linux documents `schedstat` in Documentation/scheduler/sched-stats.rst: nanoseconds. */
function readMainThread(child: ChildProcess): { ranMs: number; waitedMs: number } {
  const [ran = NaN, waited = NaN] = readProcess(child, `task/${child.pid}/schedstat`)
    .split(' ').map(Number);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}

function readProcess(child: ChildProcess, file: string): string {
  return process.platform === 'linux' ? readFileSync(`/proc/${child.pid}/${file}`, 'utf8') : '';
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
