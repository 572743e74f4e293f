/**
 * Starts chromedriver on a free port, in a process group of its own, and ends the group by its id:
 * a browser outlives its driver, and both have to end however the test does. Where its process is
 * gone without a word, a watch within the group notices.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** What to do where the browser or its driver is missing. */
export const MISSING_BROWSER =
  'The browser tests need Chromium and its driver: apt-get install chromium chromium-driver';

/** The watch reads from a pipe that nobody writes to: it ends when this process does. */
const WATCHED = '{ read -r _; kill -s KILL 0; } <&3 >/dev/null & exec "$0" --port=0 3<&-';
const NOT_FOUND = 127;

/** It asks for a free port of IPv6, and then for the same one of IPv4, which may be taken. */
const PORT_TAKEN = /port not available/;
const TRIES_LIMIT = 5;

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
  for (let tries = 1; ; tries += 1) {
    const { driver, output } = await tryDriver(folder, command);
    if (driver) return driver;
    if (!PORT_TAKEN.test(output) || tries === TRIES_LIMIT) {
      throw new Error(`chromedriver ended early: ${output}`);
    }
  }
}

async function tryDriver(
  folder: string, command: string,
): Promise<{ readonly driver?: Driver; readonly output: string }> {
  const child = spawn('sh', ['-c', WATCHED, command], {
    detached: true, stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    env: { ...process.env, TMPDIR: folder },
  });
  const ended = once(child, 'close');
  const end = async () => {
    endGroup(child);
    await ended;
  };
  const { port, output } = await readPort(child);
  if (port !== undefined) return { driver: { url: `http://127.0.0.1:${port}`, end }, output };
  await end();
  if (child.exitCode === NOT_FOUND) throw new Error(MISSING_BROWSER);
  return { output };
}

/** No port where the driver ends before it listens. */
function readPort(
  child: ChildProcess,
): Promise<{ readonly port?: number; readonly output: string }> {
  let output = '';
  return new Promise((resolve) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const port = /started successfully on port (\d+)/.exec(output)?.[1];
      if (port) resolve({ port: Number(port), output });
    });
    child.stdout?.on('end', () => resolve({ output }));
  });
}

/** The watch is in the group, so its id is nobody else's yet. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
