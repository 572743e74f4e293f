/**
 * What a User-Agent field says of a browser, for people: its name and its system. Anybody can send
 * any: it is a hint for those who look for their own sessions, and nothing hangs on it.
 */
import { parseLocale } from '../../../domain/access/account.ts';
import { ACCEPT_LANGUAGE_LIMIT_CHARACTERS } from '../limits.ts';

/** The first that fits: most browsers also name those that they are like. */
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
  const [browser, system] = [BROWSERS, SYSTEMS].map((known) =>
    known.find(([sign]) => sign.test(userAgent))?.[1]);
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? 'An unknown browser';
}

const FALLBACK = 'en-GB';

export function readLocale(acceptLanguage: string | undefined): string {
  const tags = (acceptLanguage ?? '').slice(0, ACCEPT_LANGUAGE_LIMIT_CHARACTERS).split(',');
  for (const tag of tags) {
    const [name = ''] = tag.split(';');
    if (!/^\s*[a-z]/i.test(name)) continue;
    const parsed = parseLocale(name.trim());
    if ('value' in parsed) return parsed.value;
  }
  return FALLBACK;
}
