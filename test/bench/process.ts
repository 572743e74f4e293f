/** Starts the servers that are measured, each in a process of its own, and reads their memory. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

export interface Running {
  readonly port: number;
  /** From the start of the process until it listened. */
  readonly startMs: number;
  readonly child: ChildProcess;
  /** Resident memory, MiB; NaN where the system does not tell. */
  memory(): number;
  /** The most of it that there has been since the start. */
  peakMemory(): number;
  stop(): Promise<void>;
}

export async function startFloor(): Promise<Running> {
  return start([pathOf('floor.ts')], (line) => Number(line));
}

export async function startServer(
  folder: string, flags: readonly string[] = [], nodeFlags: readonly string[] = [],
): Promise<Running> {
  const main = pathOf('../../src/main.ts');
  const args = ['serve', '--port', '0', '--data', folder, '--rate-limit', '0', '--json', ...flags];
  return start([...nodeFlags, main, ...args], (line) => Number(new URL(JSON.parse(line).url).port));
}

/** Runs a command of the command line that answers with one JSON document. */
export function runCommand(...args: string[]): Record<string, string> {
  const main = pathOf('../../src/main.ts');
  const line = [main, ...args, '--json'];
  return JSON.parse(execFileSync(process.execPath, line, { encoding: 'utf8' }));
}

async function start(args: string[], readPort: (line: string) => number): Promise<Running> {
  const begin = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] });
  const kill = (): void => void child.kill();
  process.once('exit', kill); // where the benchmark itself fails
  const [line] = await once(child.stdout ?? child, 'data');
  const startMs = performance.now() - begin;
  const port = readPort(String(line));
  return {
    port, startMs, child,
    memory: () => readMemory(child, 'VmRSS'),
    peakMemory: () => readMemory(child, 'VmHWM'),
    stop() {
      process.off('exit', kill);
      return stop(child);
    },
  };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

function readMemory(child: ChildProcess, field: 'VmRSS' | 'VmHWM'): number {
  if (process.platform !== 'linux') return NaN;
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? NaN) / 1024;
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
