/** The portal in a real browser: a server, a shop, and a browser that is signed in to it. */
import assert from 'node:assert/strict';
import { openOther } from '../features/portal/products/catalogue.ts';
import type { Shop } from '../features/portal/page-client.ts';
import { startServer, type TestOptions, type TestServer } from '../support/server.ts';
import { type AccessibilityOptions, findFaultsInAllViews } from './accessibility.ts';
import { type Browser, type Lifetime, openBrowser } from './browser.ts';

const PAGE_LIMIT_BYTES = 50 * 1024;
const PHONE = { width: 320, height: 800 };

export interface PortalOptions extends TestOptions {
  /** Whether the scripts of pages run. Default true. */
  readonly scripts?: boolean;
  /** The page that is shown, below `/portal`. Default `/`. */
  readonly path?: string;
}

export interface OpenPortal {
  readonly server: TestServer;
  /** With what its programs do by the API. */
  readonly shop: Awaited<ReturnType<typeof openOther>>;
  readonly browser: Browser;
  /** Of the overview; what follows it is the path of a page. */
  readonly url: string;
}

/** A new shop, and a browser that is signed in and shows one of its pages. */
export async function openPortal(
  t: Lifetime, { scripts = true, path = '/', ...options }: PortalOptions = {},
): Promise<OpenPortal> {
  const server = await startServer(t, { portal: true, ...options });
  const shop = await openOther(server);
  const browser = await openBrowser(t);
  await browser.setScripts(scripts);
  const url = `http://127.0.0.1:${server.port}/portal`;
  await browser.open(`${url}/sign-in?${new URLSearchParams({ to: path })}`);
  await signIn(browser, shop);
  return { server, shop, browser, url };
}

/** On the page for it, which is shown. */
export async function signIn(
  browser: Browser, { email, password }: Pick<Shop, 'email' | 'password'>,
): Promise<void> {
  await fillIn(browser, { 'E-mail': email, Password: password });
  await press(browser, 'Sign in');
}

/** Types into fields, by their labels, in the place of what is there. */
export async function fillIn(
  browser: Browser, values: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [label, value] of Object.entries(values)) {
    await (await browser.findByLabel(label)).fill(value);
  }
}

/** Clicks a button, and waits for the page that it leads to. */
export async function press(browser: Browser, name: string | RegExp): Promise<void> {
  await (await browser.findByRole('button', name)).follow();
}

/** The same with a link. */
export async function follow(browser: Browser, name: string | RegExp): Promise<void> {
  await (await browser.findByRole('link', name)).follow();
}

/** The text of the present page, without that of its frame. */
export async function readMain(browser: Browser): Promise<string> {
  return (await browser.find('main')).text();
}

/**
 * Judges the present page in light and dark, on a phone and on a desk, and leaves pictures of it:
 * `NAME-light`, `NAME-dark` and `NAME-phone`.
 */
export async function inspect(
  browser: Browser, name: string, options: AccessibilityOptions = {},
): Promise<void> {
  await browser.screenshot(`${name}-light`);
  await browser.setDark(true);
  await browser.screenshot(`${name}-dark`);
  await browser.setDark(false);
  await browser.setViewport(PHONE.width, PHONE.height);
  await browser.screenshot(`${name}-phone`);
  assert.deepEqual(await findFaultsInAllViews(browser, options), [], name);
  const { decodedBytes } = await browser.measure();
  assert.ok(decodedBytes < PAGE_LIMIT_BYTES, `${name} of ${decodedBytes} bytes`);
  await assertQuiet(browser);
}

/** No page so far had an error in its console, or wanted anything from another host. */
export async function assertQuiet(browser: Browser): Promise<void> {
  assert.deepEqual(await browser.consoleErrors(), []);
  assert.deepEqual(await browser.policyViolations(), []);
  assert.deepEqual(await browser.requestedHosts(), [new URL(await browser.url()).host]);
}
