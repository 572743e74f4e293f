/** The portal in a real browser: a server, a shop, and a browser that is signed in to it. */
import assert from 'node:assert/strict';
import { openOther } from '../features/portal/products/catalogue.ts';
import type { Shop } from '../features/portal/page-client.ts';
import { startServer, type TestOptions, type TestServer } from '../support/server.ts';
import { type AccessibilityOptions, findViolationsInAllViews } from './accessibility.ts';
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
  /** With helpers for calls of its API. */
  readonly shop: Awaited<ReturnType<typeof openOther>>;
  readonly browser: Browser;
  /** URL of the portal; append the path of a page. */
  readonly url: string;
}

/** A new shop, and a signed-in browser that shows one of its pages. */
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

/** Signs in on the sign-in page, which must be open. */
export async function signIn(
  browser: Browser, { email, password }: Pick<Shop, 'email' | 'password'>,
): Promise<void> {
  await fillIn(browser, { 'E-mail': email, Password: password });
  await press(browser, 'Sign in');
}

/** Replaces the content of fields, by label. */
export async function fillIn(
  browser: Browser, values: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [label, value] of Object.entries(values)) {
    await (await browser.findByLabel(label)).fill(value);
  }
}

/** Clicks a button, and waits for the next page. */
export async function press(browser: Browser, name: string | RegExp): Promise<void> {
  await (await browser.findByRole('button', name)).follow();
}

/**
 * Clicks a button that starts a preview, import or revert, and waits for its end: a page shows its
 * progress if it takes longer than a second, and updates itself only with scripts.
 */
export async function pressAndFinish(browser: Browser, name: string | RegExp): Promise<void> {
  await press(browser, name);
  await browser.waitFor(`the end of what "${name}" starts`, async () => {
    if (!await browser.has('#progress-bar')) return true;
    await browser.reload();
    return false;
  });
}

/** Clicks a link, and waits for the next page. */
export async function follow(browser: Browser, name: string | RegExp): Promise<void> {
  await (await browser.findByRole('link', name)).follow();
}

/** The text of the page, without header and navigation. */
export async function readMain(browser: Browser): Promise<string> {
  return (await browser.find('main')).text();
}

/**
 * Checks the accessibility and size of the page in all views. With the environment variable
 * `SCREENSHOTS`, saves the screenshots `NAME-light`, `NAME-dark` and `NAME-phone`.
 */
export async function inspect(
  browser: Browser, name: string, options: AccessibilityOptions = {},
): Promise<void> {
  if (process.env['SCREENSHOTS'] !== undefined) await saveScreenshots(browser, name);
  assert.deepEqual(await findViolationsInAllViews(browser, options), [], name);
  const { decodedBytes } = await browser.measure();
  assert.ok(decodedBytes < PAGE_LIMIT_BYTES, `${name} of ${decodedBytes} bytes`);
  await assertQuiet(browser);
}

async function saveScreenshots(browser: Browser, name: string): Promise<void> {
  await browser.screenshot(`${name}-light`);
  await browser.setDark(true);
  await browser.screenshot(`${name}-dark`);
  await browser.setDark(false);
  await browser.setViewport(PHONE.width, PHONE.height);
  await browser.screenshot(`${name}-phone`);
}

/** Asserts that no page so far had console errors or requested another host. */
export async function assertQuiet(browser: Browser): Promise<void> {
  assert.deepEqual(await browser.consoleErrors(), []);
  assert.deepEqual(await browser.policyViolations(), []);
  assert.deepEqual(await browser.requestedHosts(), [new URL(await browser.url()).host]);
}
