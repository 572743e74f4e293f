/**
 * Injects faults into system calls with strace: calls that fail, take long, or kill the process.
 * Tests are skipped, with `NO_STRACE` as the reason, where strace is missing or may not trace.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeFolder } from './folder.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

/** Why faults cannot be injected here; false if they can. */
export const NO_STRACE: string | false =
  spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0 ? false
    : 'NOT TESTED: strace is missing or may not trace. On Debian: apt-get install strace';

export interface InjectedFault {
  /** Names of system calls, comma-separated. */
  readonly calls: string;
  /** The fault in strace's syntax: `error=EIO`, `signal=SIGKILL:when=7`. */
  readonly becomes: string;
  /** Only calls on this file. */
  readonly file?: string;
}

export interface Tracing {
  /** The lines of the trace so far. */
  read(): string[];
  /** Removes the fault. */
  end(): Promise<void>;
}

/** Injects a fault into a running process, and resolves once it is active. */
export async function injectFault(
  t: TestContext, child: ChildProcess, { calls, becomes, file }: InjectedFault,
): Promise<Tracing> {
  assert.ok(child.pid !== undefined);
  const log = join(makeFolder(t), 'trace');
  const tracer = spawn('strace', [
    '-f', '-p', String(child.pid), '-o', log, '-e', `trace=${calls}`,
    '-e', `inject=${calls}:${becomes}`, ...(file === undefined ? [] : ['-P', file]),
  ], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(tracer, 'close');
  t.after(() => { tracer.kill('SIGKILL'); });
  let notes = '';
  for await (const text of tracer.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    notes += text;
    if (notes.includes('attached')) break;
  }
  assert.match(notes, /attached/);
  tracer.stderr.resume();
  return {
    read: () => readFileSync(log, 'utf8').trimEnd().split('\n'),
    async end() {
      tracer.kill('SIGINT'); // detaches from the process
      await ended;
    },
  };
}

export interface SystemCall {
  readonly name: string;
  /** Paths among its arguments; for a descriptor, the path of the open file. */
  readonly paths: readonly string[];
}

/** Runs a command until it exits; resolves with its successful calls of these names, in order. */
export function traceCommand(
  t: TestContext, names: string, args: readonly string[], environment: NodeJS.ProcessEnv = {},
): Promise<SystemCall[]> {
  return traceNode(t, names, [MAIN, ...args], environment);
}

/** The same for a module with this source text. */
export function traceModule(t: TestContext, names: string, text: string): Promise<SystemCall[]> {
  return traceNode(t, names, ['--input-type=module', '--eval', text]);
}

async function traceNode(
  t: TestContext, names: string, args: readonly string[], environment: NodeJS.ProcessEnv = {},
): Promise<SystemCall[]> {
  const log = join(makeFolder(t), 'trace');
  const child = spawn('strace', [
    '-f', '-y', '-z', '-s', '1000', '-o', log, '-e', `trace=${names}`,
    process.execPath, ...args,
  ], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...environment } });
  let notes = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  const [status] = await once(child, 'close');
  assert.equal(status, 0, notes);
  return [...readFileSync(log, 'utf8').matchAll(/^\d+ +(\w+)\((.*)\) += /gm)]
    .map(([, name = '', text = '']) => ({
      name, paths: [...text.matchAll(/"([^"]*)"|^\d+<([^>]*)>/g)]
        .map(([, path, open]) => path ?? open ?? ''),
    }));
}
