/** `open`: the portal of a server in the browser of this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { NotFoundError } from '../../client/index.ts';
import { Transport } from '../../client/transport.ts';
import { STATUS_TIMEOUT_MS } from './limits.ts';
import { type Command, CommandFailure, type Input } from '../command.ts';
import { findServer, SERVER_FLAGS } from './client.ts';

const { url, profile } = SERVER_FLAGS;

export const openPortal: Command = {
  summary: 'Opens the portal in your browser, or prints its address if there is no browser.',
  flags: { url, profile, print: { help: 'only print the address' } },
  isRemote: true,
  async run(input) {
    const { flags, environment } = input;
    const server = findServer(input).url;
    await assertPortal(server);
    const address = `${server}/portal`;
    const isOpen = flags['print'] === undefined && await openBrowser(address, environment);
    return {
      document: { url: address, is_open: isOpen },
      text: isOpen ? `Opening ${address} in your browser.` : address,
    };
  },
};

/** @throws CommandFailure */
async function assertPortal(baseUrl: string): Promise<void> {
  const server = new Transport({ baseUrl, timeoutMs: STATUS_TIMEOUT_MS, retries: 0 });
  const headers = { accept: 'text/html' };
  try {
    await server.send({ method: 'GET', path: '/portal/sign-in', headers }, (page) => page.text());
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new CommandFailure(`The server at ${baseUrl} has no portal (serve --no-portal).`);
  }
}

/** Whether a program was started. The address is an argument, not part of a shell command. */
async function openBrowser(address: string, environment: Input['environment']): Promise<boolean> {
  const [program, ...args] = findOpener(environment);
  if (program === undefined) return false;
  const options = { stdio: 'ignore', detached: true, env: environment } as const;
  const child = spawn(program, [...args, address], options);
  child.unref();
  return once(child, 'spawn').then(() => true, () => false);
}

/** The program that opens an address, with its arguments; none without a graphical desktop. */
function findOpener({ DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME }: Input['environment']): string[] {
  switch (process.platform) {
    case 'darwin': return ['open'];
    case 'win32': return ['rundll32', 'url.dll,FileProtocolHandler'];
    default: return DISPLAY || WAYLAND_DISPLAY || WSL_DISTRO_NAME ? ['xdg-open'] : [];
  }
}
