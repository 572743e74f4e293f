/**
 * A real browser for one test, or for all tests of a file with `openBrowser({ after })`: Chromium
 * with an empty profile, which can reach no host but 127.0.0.1. A test gets the browser of an
 * earlier test, emptied, if one is free, since starting one takes seconds.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atProcessEnd } from '../support/process-end.ts';
import { type Driver, MISSING_BROWSER, startDriver } from './driver.ts';
import { Scope, waitForPage } from './element.ts';
import { parseKeys } from './keys.ts';
import { BrowserLog, LOGGING } from './log.ts';
import { sendCommand, type Sent, Session, WebDriverError } from './session.ts';
import { type Truthy, waitFor } from './wait.ts';

const SCREENSHOTS = join(import.meta.dirname, '../../screenshots');
const DESK = { width: 1280, height: 800 };

const SWITCHES = [
  '--headless=new', '--disable-gpu', '--disable-dev-shm-usage', '--lang=en-US',
  // Root and many containers cannot use the sandbox; all pages are this project's own.
  '--no-sandbox',
  // Any other name or address is unreachable, for pages and for the browser itself.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  // A viewport of 320 px is then 320 px wide, as on a phone.
  '--hide-scrollbars',
  // `computedRole` and `computedName` of elements, see `query.ts`.
  '--enable-blink-features=ComputedAccessibilityInfo',
];

/** A `TestContext`, or `{ after }` with the hook of `node:test` for a whole file. */
export interface Lifetime {
  after(hook: () => Promise<void> | void): void;
}

/** The size of a page and the time to its first byte. */
export interface PageLoad {
  /** The body on the wire, possibly compressed. */
  readonly encodedBytes: number;
  readonly decodedBytes: number;
  /** The body on the wire and the 300 bytes that browsers count for the header. */
  readonly transferredBytes: number;
  /** From the request to the first byte of its response, without connecting. */
  readonly firstByteMs: number;
}

export interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  /** `Strict`, `Lax` or `None`. */
  readonly sameSite: string;
  /** In seconds since 1970; undefined for a session cookie. */
  readonly expiry?: number;
}

/** A running browser, and the folder of its files. */
interface Instance {
  readonly folder: string;
  readonly session: Session;
}

/** Those whose tests have ended. */
const free: Instance[] = [];

/** Opens a browser of 1280 x 800, in light mode, with scripts. */
export async function openBrowser(t: Lifetime): Promise<Browser> {
  const used = free.pop();
  if (used) await empty(used);
  const instance = used ?? await startBrowser();
  t.after(() => { free.push(instance); });
  const { session, folder } = instance;
  // Otherwise Tab leaves the page after its last control, and later pages never get the focus.
  await session.devTools('Emulation.setFocusEmulationEnabled', { enabled: true });
  const downloads = await mkdtemp(join(folder, 'downloads-'));
  await session.devTools('Browser.setDownloadBehavior', {
    behavior: 'allow', downloadPath: downloads,
  });
  const browser = new Browser(session, downloads);
  await browser.setViewport(DESK.width, DESK.height);
  return browser;
}

/** Starts a browser that ends with this process. */
async function startBrowser(): Promise<Instance> {
  const folder = await mkdtemp(join(tmpdir(), 'browser-'));
  let driver: Driver | undefined;
  atProcessEnd(async () => {
    await driver?.end();
    // Only the driver is awaited; other processes of the group may still write a file.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  driver = await startDriver(folder);
  return { folder, session: await openSession(driver, folder) };
}

/** Replaces the tabs, which have the settings of the test, and deletes what pages have stored. */
async function empty({ session }: Instance): Promise<void> {
  const tabs: readonly string[] = await session.command('GET', '/window/handles');
  const { handle } = await session.command('POST', '/window/new', { type: 'tab' });
  for (const tab of tabs) {
    await session.command('POST', '/window', { handle: tab });
    await session.command('DELETE', '/window');
  }
  await session.command('POST', '/window', { handle });
  await session.devTools('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' });
  await session.devTools('Network.clearBrowserCache');
  await new BrowserLog(session).errors(); // the browser returns each entry once
}

async function openSession(driver: Driver, folder: string): Promise<Session> {
  const capabilities = {
    browserName: 'chrome',
    timeouts: { pageLoad: 60_000, script: 60_000 },
    'webauthn:virtualAuthenticators': true,
    'goog:loggingPrefs': LOGGING,
    'goog:chromeOptions': {
      args: [...SWITCHES, `--user-data-dir=${join(folder, 'profile')}`],
      perfLoggingPrefs: { enableNetwork: true, enablePage: false },
    },
  };
  try {
    const body = { capabilities: { alwaysMatch: capabilities } };
    const { sessionId } = await sendCommand('POST', `${driver.url}/session`, body);
    return new Session(`${driver.url}/session/${sessionId}`);
  } catch (cause) {
    const isMissing = cause instanceof WebDriverError && /cannot find/.test(cause.message);
    throw isMissing ? new Error(MISSING_BROWSER, { cause }) : cause;
  }
}

/** The page of the browser; elements are searched in all of it. */
export class Browser extends Scope {
  readonly #downloads: string;
  readonly #log: BrowserLog;

  /** @param downloads The folder for downloads. */
  constructor(session: Session, downloads: string) {
    super(session);
    this.#downloads = downloads;
    this.#log = new BrowserLog(session);
  }

  /** Opens a URL and waits for the page, see `waitForPage`. */
  open(url: string): Promise<void> {
    return this.#navigate('url', { url });
  }

  reload(): Promise<void> {
    return this.#navigate('refresh');
  }

  back(): Promise<void> {
    return this.#navigate('back');
  }

  async #navigate(command: string, parameters?: object): Promise<void> {
    await this.session.command('POST', `/${command}`, parameters);
    await waitForPage(this.session);
  }

  url(): Promise<string> {
    return this.session.command('GET', '/url');
  }

  title(): Promise<string> {
    return this.session.command('GET', '/title');
  }

  /** All rendered text. */
  text(): Promise<string> {
    return this.run(() => document.body.innerText);
  }

  /** Presses a key, such as `Tab`, or a combination, such as `Shift+Tab`. */
  async press(keys: string): Promise<void> {
    const actions = [{ type: 'key', id: 'keyboard', actions: parseKeys(keys) }];
    await this.session.command('POST', '/actions', { actions });
  }

  /** Runs a function in the page, which sees only its arguments and the page; see `Session.run`. */
  run<Args extends unknown[], Result>(
    script: (...args: Args) => Result, ...args: Sent<Args>
  ): Promise<Awaited<Result>> {
    return this.session.run(script, args);
  }

  /** Waits up to 10 s for a truthy result; `what` is for the error message. */
  waitFor<T>(what: string, condition: () => Promise<T>): Promise<Truthy<T>> {
    return waitFor(what, condition);
  }

  /** Switches the scripts of pages on or off, from the next page on. */
  async setScripts(on: boolean): Promise<void> {
    await this.session.devTools('Emulation.setScriptExecutionDisabled', { value: !on });
  }

  /** Sets `prefers-color-scheme`, also for later pages. */
  async setDark(dark: boolean): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }];
    await this.session.devTools('Emulation.setEmulatedMedia', { features });
  }

  /** Emulates a system theme with few colors, such as high contrast. */
  async setForcedColours(forced: boolean): Promise<void> {
    const features = [{ name: 'forced-colors', value: forced ? 'active' : 'none' }];
    await this.session.devTools('Emulation.setEmulatedMedia', { features });
  }

  /** Sets the viewport in CSS pixels, also for later pages. */
  async setViewport(width: number, height: number): Promise<void> {
    const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
    await this.session.devTools('Emulation.setDeviceMetricsOverride', metrics);
  }

  /** The cookies of the current page, including HttpOnly cookies. */
  cookies(): Promise<Cookie[]> {
    return this.session.command('GET', '/cookie');
  }

  async setCookie(name: string, value: string): Promise<void> {
    await this.session.command('POST', '/cookie', { cookie: { name, value } });
  }

  async deleteCookies(): Promise<void> {
    await this.session.command('DELETE', '/cookie');
  }

  /** Errors in the console since the start, see `BrowserLog`. */
  consoleErrors(): Promise<string[]> {
    return this.#log.errors();
  }

  policyViolations(): Promise<string[]> {
    return this.#log.policyViolations();
  }

  /** Every host that any page has requested, such as `127.0.0.1:8080`. */
  requestedHosts(): Promise<string[]> {
    return this.#log.requestedHosts();
  }

  /**
   * Connects a virtual authenticator that keeps passkeys (WebAuthn Level 2, section 11), and
   * returns its id. Its user is always present.
   */
  addAuthenticator({ isUserVerified = true } = {}): Promise<string> {
    return this.session.command('POST', '/webauthn/authenticator', {
      protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true,
      isUserConsenting: true, isUserVerified,
    });
  }

  /** Sets whether the authenticator verifies its user, as by a fingerprint. */
  async setUserVerified(authenticatorId: string, isUserVerified: boolean): Promise<void> {
    const path = `/webauthn/authenticator/${authenticatorId}/uv`;
    await this.session.command('POST', path, { isUserVerified });
  }

  measure(): Promise<PageLoad> {
    return this.run(() => {
      const [load] = performance.getEntriesByType('navigation');
      // `navigation` entries are of this type (Navigation Timing 2, section 4).
      const timing = load as PerformanceNavigationTiming;
      return {
        encodedBytes: timing.encodedBodySize,
        decodedBytes: timing.decodedBodySize,
        transferredBytes: timing.transferSize,
        firstByteMs: timing.responseStart - timing.requestStart,
      };
    });
  }

  /** Saves the whole page, including the part below the viewport, to `screenshots/NAME.png`. */
  async screenshot(name: string): Promise<void> {
    // A page whose viewport has just changed may have no layout yet.
    const cssContentSize = await waitFor('the layout of the page', async () => {
      const { cssContentSize: size } = await this.session.devTools('Page.getLayoutMetrics');
      return size.width > 0 && size.height > 0 && size;
    });
    const { data } = await this.session.devTools('Page.captureScreenshot', {
      captureBeyondViewport: true, clip: { ...cssContentSize, scale: 1 },
    });
    await mkdir(SCREENSHOTS, { recursive: true });
    await writeFile(join(SCREENSHOTS, `${name}.png`), data, 'base64');
  }

  /** Waits for a download and returns its content. */
  download(name: string): Promise<Buffer> {
    // An unfinished download has another name; an empty file may be there to reserve the name.
    const path = join(this.#downloads, name);
    return waitFor(`the download ${name}`, async () => {
      const content = await readFile(path).catch(() => undefined);
      return content?.length ? content : undefined;
    });
  }
}
