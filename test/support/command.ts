/** Runs the command line in child processes, as a user does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';

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

/** Runs a command until it exits; `input` is its standard input. */
export async function run(
  args: readonly string[], environment: NodeJS.ProcessEnv = {}, input?: string,
): Promise<Finished> {
  const child = spawnCommand(args, environment, input === undefined ? 'ignore' : 'pipe');
  child.stdin?.on('error', () => {}).end(input); // it may exit before it has read everything
  let out = '';
  let notes = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => { out += text; });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  // `close` is emitted after both streams have ended.
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, out, notes };
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
  return watchServing(t, spawnCommand(['serve', ...port, '--json', ...args], environment));
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

function spawnCommand(
  args: readonly string[], environment: NodeJS.ProcessEnv, input: 'ignore' | 'pipe' = 'ignore',
): ChildProcess {
  return spawn(...program(...args), {
    stdio: [input, 'pipe', 'pipe'], env: { ...process.env, ...environment },
  });
}
