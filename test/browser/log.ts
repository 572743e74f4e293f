/** The console and network logs of a browser, from its first page on. */
import type { Session } from './session.ts';

/** The logs that a session must request when it opens. */
export const LOGGING = { browser: 'ALL', performance: 'ALL' } as const;

interface ConsoleEntry {
  readonly level: string;
  readonly source: string;
  readonly message: string;
}

export class BrowserLog {
  readonly #session: Session;
  readonly #errors: ConsoleEntry[] = [];
  readonly #requested = new Set<string>();
  readonly #pages = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Errors in the console, except those for pages whose own response was 4xx or 5xx. */
  async errors(): Promise<string[]> {
    await this.#read();
    const isPage = ({ source, message }: ConsoleEntry) =>
      source === 'network' && this.#pages.has(message.split(' - ')[0] ?? '');
    return this.#errors.filter((entry) => !isPage(entry)).map(({ message }) => message);
  }

  /** Violations of a page's Content-Security-Policy. */
  async policyViolations(): Promise<string[]> {
    const errors = await this.errors();
    return errors.filter((message) => message.includes('Content Security Policy'));
  }

  /** Every host (with its port) that a page tried to reach, even if the request was blocked. */
  async requestedHosts(): Promise<string[]> {
    await this.#read();
    return [...new Set([...this.#requested].map((url) => new URL(url).host))].sort();
  }

  /** The browser returns each log entry once, so all entries are kept here. */
  async #read(): Promise<void> {
    const messages: readonly ConsoleEntry[] = await this.#fetch('browser');
    // Chromium's own pages, such as that of a new tab, log to the same console.
    this.#errors.push(...messages.filter(({ level, message }) =>
      level === 'SEVERE' && !message.startsWith('chrome://')));
    const events: readonly { readonly message: string }[] = await this.#fetch('performance');
    for (const event of events) this.#readEvent(JSON.parse(event.message).message);
  }

  #readEvent({ method, params }: { readonly method: string; readonly params: any }): void {
    const url = method === 'Network.requestWillBeSent' ? params.request.url
      : method === 'Network.webSocketCreated' ? params.url : '';
    if (!/^(?:https?|wss?):/.test(url)) return;
    this.#requested.add(url);
    if (params.type === 'Document') this.#pages.add(url);
  }

  #fetch(type: keyof typeof LOGGING): Promise<any> {
    return this.#session.command('POST', '/se/log', { type });
  }
}
