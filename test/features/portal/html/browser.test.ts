/** Browser names from the User-Agent, and locales from Accept-Language. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeBrowser, readLocale } from '../../../../src/features/portal/html/browser.ts';

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const CHROME = `${WEBKIT} Chrome/140.0.0.0`;

test('names the browser and its system', () => {
  for (const [userAgent, name] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36`, 'Chrome on Windows'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/140.0.0.0`,
      'Edge on Windows'],
    [`Mozilla/5.0 (Linux; Android 10; K) ${CHROME} Mobile Safari/537.36`, 'Chrome on Android'],
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${CHROME} Safari/537.36 OPR/120.0.0.0`,
      'Opera on macOS'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) '
      + 'Version/26.0 Safari/605.1.15', 'Safari on macOS'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like '
      + 'Gecko) CriOS/140.0.0.0 Mobile/15E148 Safari/604.1', 'Chrome on iOS'],
    ['curl/8.14.1', 'curl'],
    ['Something (Linux)', 'Linux'],
  ] as const) {
    assert.equal(describeBrowser(userAgent), name, userAgent);
  }
});

test('names an unknown browser without quoting its User-Agent', () => {
  for (const userAgent of ['', 'Firefox', '<script>alert(1)</script>', 'x'.repeat(200)]) {
    assert.equal(describeBrowser(userAgent), 'Unknown browser', userAgent);
  }
});

test('takes the first supported locale', () => {
  for (const [header, locale] of [
    ['de-CH,de;q=0.9,en;q=0.8', 'de-CH'], ['de-ch', 'de-CH'], ['tlh, xx-XX, fr;q=0.1', 'fr'],
    ['*;q=0.5, it', 'it'], [' pt-BR ;q=1', 'pt-BR'],
  ] as const) {
    assert.equal(readLocale(header), locale, header);
  }
});

test('falls back to en-GB without a supported locale', () => {
  for (const header of [undefined, '', '*', 'zz', ',,,', ';q=1', 'en_GB', '<script>',
    `${'x'.repeat(300)},de`]) {
    assert.equal(readLocale(header), 'en-GB', String(header));
  }
});
