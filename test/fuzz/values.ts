/**
 * Values that often break programs, and ways to corrupt valid ones. All choices come from the given
 * random source, so a seed repeats them.
 */
import type { Random } from '../domain/random.ts';

/** Markup that a page must never output unescaped. */
export const MARKUP = '"><img src=x onerror=fuzz><script>fuzz()</script>';
/** A response header that only request text could have injected. */
export const SPLIT_FIELD = 'x-fuzz-split';

export const TEXTS: readonly string[] = [
  '', ' ', '\t', '0', '-0', '1', '-1', '1.5', '.5', '5.', '+5', '1e3', '1e400', '-1e400', '0x10',
  '007', '1_000', '1,000', '1.000,50', '١٢', '½', '9007199254740991', '9007199254740992',
  '999999999999', '1000000000', '1000000001', '1000000000000', '18446744073709551616', 'NaN',
  'Infinity', '-Infinity', 'null', 'undefined', 'true', 'false', '[]', '{}', '[object Object]',
  '__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', 'then',
  'a'.repeat(64), 'a'.repeat(65), 'a'.repeat(201), 'x'.repeat(4_000), '😀'.repeat(64),
  '😀'.repeat(201), 'e\u0301', '\u00e9', 'ß', 'İ', 'ı', 'ﬀ', 'Σς', '\u212b', '\ufdfa', '한글',
  '\u0000', 'a\u0000b', '\u0001', '\u001f', '\u007f', '\u0085', '\u00a0', '\u00ad', '\u061c',
  '\u200b', '\u200d', '\u200e', '\u202e', '\u2028', '\u2029', '\u2066', '\ufeff', '\ufffd',
  '\ufffe', '\uffff', '\u{e0001}', '\u{10ffff}', '\ud800', '\udfff', 'a\ud83d', '\u0301'.repeat(40),
  '../../etc/passwd', '..', '.', '/', '//', '\\', '%', '%00', '%2e%2e%2f', '%ff', '%ed%a0%80',
  '%c0%ae', '?', '#', '&', '=', '+', ';', ',', ':', '*', '"', "'", "''", '`', '"""',
  "' OR 1=1 --", '"; DROP TABLE product; --', '%\' ESCAPE \'', 'a* OR b', 'NEAR("a" "b")', '"a',
  '${1}', '{{7*7}}', '$(id)', '=1+1', '@SUM(A1)', '-2+3', '\'=1', '(((((((((', 'a|b', '^$', '[',
  '(a+)+$', MARKUP, `a\r\n${SPLIT_FIELD}: 1`, 'a\nb', 'a\rb', '\r\n', '<!--', ']]>', '&amp;',
  '1970-01-01T00:00:00Z', '2026-01-02T03:04:05.678Z', '2026-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:60Z', '2026-01-02T03:04:05+99:99', '+010000-01-01T00:00:00Z', '2026-01-02',
  '-100000000-01-01T00:00:00Z', 'prd_', 'prd_0', 'whk_1', 'key_zzzz', 'spk_', 'id', '-id',
  'name,sku', 'id,id', 'sku,', 'json', 'csv', 'ndjson', 'stock', 'stock,created', 'erp', 'en-GB',
  'x-klingon', 'Europe/Zurich', 'Mars/Base', 'EUR', 'XXX', '24h', '0s', '99999d', '1h1h', 'P1D',
  'name:Title', 'sku:', ':', 'stock:0,category:Misc', 'name:a,name:b', '127.0.0.1', '::1',
  '0.0.0.0/0', '::ffff:127.0.0.1', '1.2.3.4/33', '[::1', 'http://127.0.0.1:9/', 'https://[::1]/',
  'javascript:alert(1)', 'file:///etc/passwd', 'http://127.0.0.1:9/#a', 'http://u:p@127.0.0.1:9/',
  '//127.0.0.1/', '/portal', '/portal//127.0.0.1', '\\\\127.0.0.1', '/products?q=a', '"0"', '"1"',
  'W/"1"', '*', '"1", "2"', '"1', '"999999999999999999"', '"1-gzip"', '"', ',,,',
];

/** JSON texts, valid and invalid. */
export const JSON_TEXTS: readonly string[] = [
  ...TEXTS.map((text) => JSON.stringify(text)),
  'null', 'true', 'false', '0', '-0', '-0.0', '1', '-1', '1.5', '1e2', '1E+2', '1e400', '-1e400',
  '1e-400', '5e-324', '0.1', '0.30000000000000004', '12.345', '999999999999.99', '1000000000000',
  '9007199254740991', '9007199254740993', '1000000000', '1000000001', '1.0', '100.00', '[]', '{}',
  '[[]]', '[null]', '{"a":1}', '{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":1}}',
  '["stock","stock"]', '["created","nothing"]', '[1,2,3]', '"\\ud800"', '"\\udc00\\ud800"',
  '"\\u0000"', '"\\u0041"', '"\\/"', '"a\\u0301"', `"${'x'.repeat(3_000)}"`,
  `[${'1,'.repeat(500)}1]`, '[[[[[[[[1]]]]]]]]', `${'['.repeat(200)}${']'.repeat(200)}`,
  // not JSON
  '', 'NaN', 'Infinity', 'undefined', "'a'", '01', '1.', '.5', '+1', '1e', '0x10', '"\\x41"',
  '"\\ud8', '"', '[1,]', '{"a":1,}', '{a:1}', '{"a"}', '[1 2]', '"\n"', '"\t"', '/**/1', '1 2',
  'nul', '\ufeff1', '\u00a01',
];

/** A text of the list or of the given ones, possibly corrupted. */
export function pickText(random: Random, known: readonly string[] = []): string {
  const text = known.length > 0 && random.below(3) > 0 ? random.pick(known) : random.pick(TEXTS);
  return random.below(5) === 0 ? mutateText(random, text) : text;
}

export function mutateText(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  switch (random.below(6)) {
    case 0: return text.slice(0, at) + random.pick(TEXTS) + text.slice(at);
    case 1: return text.slice(0, at) + text.slice(at + 1 + random.below(4));
    case 2: return text.slice(0, at) + String.fromCharCode(random.below(0x10000)) + text.slice(at);
    case 3: return text.slice(at) + text.slice(0, at);
    case 4: return text.toUpperCase() === text ? text.toLowerCase() : text.toUpperCase();
    default: return text.slice(0, at) + String.fromCharCode(
      (text.charCodeAt(at) || 0x61) ^ (1 << random.below(7))) + text.slice(at + 1);
  }
}

const BYTES: readonly (readonly number[])[] = [
  [0x00], [0x0a], [0x0d], [0x0d, 0x0a], [0x20], [0x09], [0x0b], [0x22], [0x22, 0x22], [0x2c],
  [0x3b],
  [0x3a], [0x7b], [0x7d], [0x5b], [0x5d], [0x5c], [0x25], [0x7f], [0x80], [0xbf], [0xc0, 0xaf],
  [0xc3], [0xe2, 0x80], [0xef, 0xbb, 0xbf], [0xed, 0xa0, 0x80], [0xf0, 0x9f],
  [0xf4, 0x90, 0x80, 0x80],
  [0xfe, 0xff], [0xff], [0x1f, 0x8b], [0x2d, 0x2d],
];

/** The bytes with one to four edits: changed, inserted, removed, duplicated or cut off. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  let mutated = bytes;
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    const at = random.below(mutated.length + 1);
    const end = Math.min(mutated.length, at + 1 + random.below(random.below(2) ? 4 : 60));
    const [before, part, after] = [
      mutated.subarray(0, at), mutated.subarray(at, end), mutated.subarray(end),
    ];
    switch (random.below(6)) {
      case 0: mutated = Buffer.concat([before, after]); break;
      case 1: mutated = Buffer.concat([before, part, part, after]); break;
      case 2:
        mutated = Buffer.concat([before, Buffer.from(random.pick(BYTES)), part, after]);
        break;
      case 3: mutated = Buffer.concat([before, Buffer.from(random.pick(BYTES)), after]); break;
      case 4: mutated = random.below(4) === 0 ? before : mutated; break;
      default:
        mutated = Buffer.concat([
          before, part.subarray(0, 1).map((byte) => byte ^ (1 << random.below(8))),
          part.subarray(1), after,
        ]);
    }
  }
  return mutated;
}
