/**
 * Starts chromedriver on a free port, in its own process group, and kills the group by its id: a
 * browser outlives its driver, and both must end however the test ends. If the test process dies,
 * a watchdog in the group kills the group.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** What to do if the browser or its driver is missing. */
export const MISSING_BROWSER =
  'The browser tests need Chromium and its driver: apt-get install chromium chromium-driver';

/** The watchdog reads from a pipe that nobody writes to, which closes when this process ends. */
const WATCHED = '{ read -r _; kill -s KILL 0; } <&3 >/dev/null & exec "$0" --port=0 3<&-';
const NOT_FOUND = 127;

/** The driver asks for a free IPv6 port, and then for the same IPv4 port, which may be taken. */
const PORT_TAKEN = /port not available/;
const TRIES_LIMIT = 5;

export interface Driver {
  /** The URL for WebDriver commands. */
  readonly url: string;
  /** Ends the driver and every browser that it has started. */
  end(): Promise<void>;
}

/**
 * Resolves once the driver listens; throws when `command` is not installed or ends early.
 * @param folder Where the driver and its browsers write files.
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

/** Undefined if the driver ends before it listens. */
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

/** The watchdog is in the group, so the group id cannot be reused yet. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
