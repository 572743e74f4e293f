/**
 * Starts chromedriver on a free port, in a process group of its own, and ends the group by its id:
 * a browser outlives its driver, and both have to end even where the test fails or is interrupted.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** What to do where the browser or its driver is missing. */
export const MISSING_BROWSER =
  'The browser tests need Chromium and its driver: apt-get install chromium chromium-driver';

const INTERRUPTIONS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type DriverProcess = ChildProcessByStdio<null, Readable, null>;

export interface Driver {
  /** Where it takes WebDriver commands. */
  readonly url: string;
  /** Ends the driver and every browser it has started. */
  end(): Promise<void>;
}

/**
 * Resolves once the driver listens; throws when `command` is not installed or ends early.
 * @param folder For everything that the driver and its browsers write.
 */
export async function startDriver(folder: string, command = 'chromedriver'): Promise<Driver> {
  const child = spawn(command, ['--port=0'], {
    detached: true, stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, TMPDIR: folder },
  });
  const ended = once(child, 'close');
  const { pid } = child;
  if (pid === undefined) throw await ended.catch((cause) => new Error(MISSING_BROWSER, { cause }));
  const stopWatching = endWithThisProcess(pid);
  const end = async () => {
    stopWatching();
    endGroup(pid);
    await ended;
  };
  try {
    return { url: `http://127.0.0.1:${await readPort(child)}`, end };
  } catch (error) {
    await end();
    throw error;
  }
}

function readPort(child: DriverProcess): Promise<number> {
  let output = '';
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const port = /started successfully on port (\d+)/.exec(output)?.[1];
      if (port) resolve(Number(port));
    });
    child.stdout.on('end', () => reject(new Error(`chromedriver ended early: ${output}`)));
  });
}

/** A signal would end this process without its hooks, and leave the group behind. */
function endWithThisProcess(groupId: number): () => void {
  const onExit = () => endGroup(groupId);
  const onSignal = (signal: NodeJS.Signals) => {
    stop();
    endGroup(groupId);
    process.kill(process.pid, signal);
  };
  const stop = () => {
    process.off('exit', onExit);
    for (const signal of INTERRUPTIONS) process.off(signal, onSignal);
  };
  process.on('exit', onExit);
  for (const signal of INTERRUPTIONS) process.on(signal, onSignal);
  return stop;
}

function endGroup(groupId: number): void {
  try {
    process.kill(-groupId, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
