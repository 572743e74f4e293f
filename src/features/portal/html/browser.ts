/**
 * Reads the browser's name and system (User-Agent) and its preferred locale (Accept-Language; RFC
 * 9110, sections 10.1.5 and 12.5.4). Clients can send anything, so these are only hints and
 * defaults.
 */
import { parseLocale } from '../../../domain/access/account.ts';
import { ACCEPT_LANGUAGE_LIMIT_CHARACTERS } from '../limits.ts';

/** The first match wins, because most browsers also name others for compatibility. */
const BROWSERS: readonly (readonly [sign: RegExp, name: string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];

const SYSTEMS: readonly (readonly [sign: RegExp, name: string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Such as `Firefox on Linux`. */
export function describeBrowser(userAgent: string): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map((signs) =>
    signs.find(([sign]) => sign.test(userAgent))?.[1]);
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? 'Unknown browser';
}

/** The first locale in Accept-Language that `Intl` supports; default en-GB. */
export function readLocale(acceptLanguage: string | undefined): string {
  const tags = (acceptLanguage ?? '').slice(0, ACCEPT_LANGUAGE_LIMIT_CHARACTERS).split(',');
  for (const tag of tags) {
    const [name = ''] = tag.split(';');
    if (!/^\s*[a-z]/i.test(name)) continue;
    const parsed = parseLocale(name.trim());
    if ('value' in parsed) return parsed.value;
  }
  return 'en-GB';
}
