/** A page without violations, into which the tests of a rule put some. */
import { type AccessibilityOptions, findViolations } from '../accessibility.ts';
import { type Browser, type Lifetime, openBrowser } from '../browser.ts';
import { servePages } from '../page-server.ts';

/** Parts of the page to replace; the others have no violations. */
export interface CheckedPage {
  readonly language?: string;
  readonly head?: string;
  readonly style?: string;
  readonly header?: string;
  readonly main?: string;
  readonly footer?: string;
}

export interface PageChecker {
  readonly browser: Browser;
  /** Opens the page, and returns its violations; a string is the main content below the heading. */
  violationsOf(page: CheckedPage | string, options?: AccessibilityOptions): Promise<string[]>;
}

const HEAD = '<title>Judged</title><meta name="viewport" content="width=device-width">';
const HEADER = '<header>A shop</header><nav><a href="/">Home</a></nav>';

/** Opens a browser for the checked pages. */
export async function openPageChecker(t: Lifetime): Promise<PageChecker> {
  const browser = await openBrowser(t);
  let html = '';
  const site = await servePages(t, { 'GET /': () => html });
  return {
    browser,
    async violationsOf(page, options) {
      html = writePage(typeof page === 'string' ? { main: `<h1>Judged</h1>${page}` } : page);
      await browser.open(site);
      return findViolations(browser, options);
    },
  };
}

function writePage(page: CheckedPage): string {
  const { language = 'en', head = HEAD, style = '', header = HEADER, footer = '' } = page;
  const { main = '<h1>Judged</h1>' } = page;
  const wholeMain = main.includes('<main') ? main : `<main>${main}</main>`;
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8">${head}
    <link rel="icon" href="data:,">
    <style>:root { color-scheme: light dark; line-height: 24px }
      nav a, label:not([hidden]) { display: inline-block }
      button, select, [type="submit"] { min-height: 24px }
      ${style}</style></head>
    <body>${header}${wholeMain}${footer}</body></html>`;
}
