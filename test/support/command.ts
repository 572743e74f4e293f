/**
 * Runs the command line: in this process, with streams of its own, unless a test is about what only
 * a process shows, such as signals, or the executable under test is to run.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { run as runCommand } from '../../src/cli/run.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;
const EXECUTABLE = process.env['TEST_EXECUTABLE'];

/** What `spawn` takes to run a command: from the source, or by the executable under test. */
export function program(...args: readonly string[]): [file: string, args: string[]] {
  return EXECUTABLE ? [EXECUTABLE, [...args]] : [process.execPath, [MAIN, ...args]];
}

export interface Finished {
  readonly status: number | null;
  readonly out: string;
  readonly notes: string;
}

/**
 * Runs a command in this process until it ends; `input` is its standard input. Use `runProcess` for
 * a data folder with an open store in this process (see `openSqliteStore`), for several commands at
 * a time on one folder, and for `serve` and `demo` if they start: their end is bound to a process.
 */
export async function run(
  args: readonly string[], environment: NodeJS.ProcessEnv = {}, input: string | Uint8Array = '',
): Promise<Finished> {
  if (EXECUTABLE) return runProcess(args, environment, input);
  const [out, notes] = [new Output(), new Output()];
  const io = Object.assign(new EventEmitter(), {
    stdin: Readable.from([Buffer.from(input)], { objectMode: false }), stdout: out, stderr: notes,
    env: { ...process.env, ...environment },
  });
  const status = await runCommand(args, io);
  return { status, out: out.read(), notes: notes.read() };
}

/** Collects what is written to it, and keeps it even if `pipeline` destroys it. */
class Output extends Writable {
  readonly #chunks: Buffer[] = [];

  constructor() {
    super();
    this.on('error', () => {});
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  read(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/** Runs a command in a process of its own until it exits. */
export async function runProcess(
  args: readonly string[], environment: NodeJS.ProcessEnv = {}, input: string | Uint8Array = '',
): Promise<Finished> {
  const child = spawnCommand(args, environment);
  child.stdin.on('error', () => {}); // it may exit before it has read everything
  child.stdin.end(input);
  const closed = once(child, 'close');
  const [out, notes] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = (await closed) as [number | null];
  return { status, out, notes };
}

/** Starts a command in a process of its own, with pipes for its input and output. */
export function spawnCommand(
  args: readonly string[], environment: NodeJS.ProcessEnv = {},
): ChildProcessWithoutNullStreams {
  return spawn(...program(...args), { env: { ...process.env, ...environment } });
}

export interface Serving {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  /** What it has written to standard error so far. */
  notes(): string;
  /** Resolves once standard error contains this; rejects if the process exits first. */
  waitForNote(wanted: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit status; null if a signal killed it. */
  readonly ended: Promise<number | null>;
  /** Sends a signal and resolves with the exit status; null if the signal killed it. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts `serve --json`, on a free port unless `args` name a Unix socket, and waits until it
 * listens. The server is killed after the test, or at the latest when this process exits: a test
 * that timed out may start one after its hooks have run.
 */
export async function startServing(
  t: Pick<TestContext, 'after'>, args: readonly string[], environment: NodeJS.ProcessEnv = {},
): Promise<Serving> {
  const port = args.includes('--socket') ? [] : ['--port', '0'];
  return watchServing(t, spawn(...program('serve', ...port, '--json', ...args), {
    stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment },
  }));
}

/** Like `startServing`, for a `serve --json` process that has already been started. */
export async function watchServing(
  t: Pick<TestContext, 'after'>, child: ChildProcess,
): Promise<Serving> {
  const ended = once(child, 'close') as Promise<[number | null]>;
  const kill = (): void => { child.kill('SIGKILL'); };
  process.once('exit', kill);
  child.once('close', () => process.off('exit', kill));
  t.after(async () => {
    kill(); // no effect if it has exited
    await ended;
  });
  let notes = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  const first = await Promise.race([
    once(child.stdout ?? child, 'data'), ended.then(() => undefined),
  ]);
  if (!first) throw new Error(`serve ended early: ${notes}`);
  const { url } = JSON.parse(String(first[0])) as { url: string };
  return {
    url, port: Number(new URL(url).port), child, notes: () => notes,
    ended: ended.then(([status]) => status),
    async waitForNote(wanted) {
      let hasEnded = false;
      const end = ended.then(() => { hasEnded = true; });
      for (;;) {
        const found = wanted.exec(notes);
        if (found) return found;
        if (hasEnded) throw new Error(`serve ended without ${wanted}: ${notes}`);
        await Promise.race([once(child.stderr ?? child, 'data'), end]);
      }
    },
    async stop(signal) {
      child.kill(signal);
      const [status] = await ended;
      return status;
    },
  };
}

/** The variable with which a process, and each thread of it, loads this module first. */
export function preload(module: string): { readonly NODE_OPTIONS: string } {
  return { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${module}`.trimStart() };
}
