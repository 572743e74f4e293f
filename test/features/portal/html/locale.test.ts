/** The locale that a browser asks for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLocale } from '../../../../src/features/portal/html/locale.ts';

test('takes the first that is known', () => {
  for (const [header, locale] of [
    ['de-CH,de;q=0.9,en;q=0.8', 'de-CH'], ['de-ch', 'de-CH'], ['tlh, xx-XX, fr;q=0.1', 'fr'],
    ['*;q=0.5, it', 'it'], [' pt-BR ;q=1', 'pt-BR'],
  ] as const) {
    assert.equal(readLocale(header), locale, header);
  }
});

test('has one of its own where a browser names none that is known', () => {
  for (const header of [undefined, '', '*', 'zz', ',,,', ';q=1', 'en_GB', '<script>',
    `${'x'.repeat(300)},de`]) {
    assert.equal(readLocale(header), 'en-GB', String(header));
  }
});
