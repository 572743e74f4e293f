/** Runs the command line in processes of their own, as a user does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;

export interface Finished {
  readonly status: number | null;
  readonly out: string;
  readonly notes: string;
}

/** Runs a command to its end; `input` is what it finds on standard input. */
export async function run(
  args: readonly string[], environment: NodeJS.ProcessEnv = {}, input?: string,
): Promise<Finished> {
  const child = spawnCommand(args, environment, input === undefined ? 'ignore' : 'pipe');
  child.stdin?.on('error', () => {}).end(input); // it may end without having read all of it
  let out = '';
  let notes = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => { out += text; });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  // `close` comes after both streams have ended.
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, out, notes };
}

export interface Serving {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  /** All that it has written to standard error so far. */
  notes(): string;
  /** Resolves with this once standard error has it; rejects where the process ends before. */
  waitForNote(wanted: RegExp): Promise<RegExpExecArray>;
  /** The exit status, once it has ended: null where a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Sends a signal and resolves with the exit status: null where the signal ended it. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts `serve --json`, on a free port unless it is to listen on a Unix socket, and waits until it
 * listens. Ended after the test in any case.
 */
export async function startServing(
  t: Pick<TestContext, 'after'>, args: readonly string[], environment: NodeJS.ProcessEnv = {},
): Promise<Serving> {
  const port = args.includes('--socket') ? [] : ['--port', '0'];
  return watchServing(t, spawnCommand(['serve', ...port, '--json', ...args], environment));
}

/** Waits until a process that was started as `serve --json` listens, as `startServing` does. */
export async function watchServing(
  t: Pick<TestContext, 'after'>, child: ChildProcess,
): Promise<Serving> {
  const ended = once(child, 'close') as Promise<[number | null]>;
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
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
  return spawn(process.execPath, [MAIN, ...args], {
    stdio: [input, 'pipe', 'pipe'], env: { ...process.env, ...environment },
  });
}
