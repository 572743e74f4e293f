/**
 * The parsers of untrusted input, each with samples to corrupt and its invariants: it returns a
 * consistent result or throws an AppError, whatever the input.
 */
import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { parseEmail, parseLocale, parseTimeZone } from '../../src/domain/access/account.ts';
import {
  rateLimitPrefix, isAddressInRanges, normaliseAddress, parseAddressRanges,
} from '../../src/domain/network-address.ts';
import { parseApiKey } from '../../src/domain/access/api-key.ts';
import { hashCode } from '../../src/domain/access/human-code.ts';
import { findDuration, formatTime, parseTime } from '../../src/domain/time.ts';
import {
  formatKeyId, formatProductId, parseKeyId, parseProductId, type SellerId,
} from '../../src/domain/id.ts';
import { findSku, parseNewProduct, parseProductPatch } from '../../src/domain/catalogue/product.ts';
import { foldText } from '../../src/domain/catalogue/product-query.ts';
import { parseStockSync } from '../../src/domain/catalogue/stock-sync.ts';
import { findTotpStep, type TotpSecret } from '../../src/domain/access/totp.ts';
import { parseReplay, parseRotation } from '../../src/domain/webhooks/webhook-input.ts';
import { findNoneMatch, readPrecondition } from '../../src/http/response/conditional.ts';
import { makeCursors } from '../../src/http/cursor.ts';
import { makeTrustedProxies } from '../../src/http/request/client-address.ts';
import { readIdempotencyKey } from '../../src/api/write.ts';
import { parseJson } from '../../src/http/request/json.ts';
import { readField, readForm } from '../../src/http/request/multipart.ts';
import { negotiate, negotiateCoding } from '../../src/http/request/negotiate.ts';
import { parseQuery } from '../../src/http/request/query.ts';
import { Router } from '../../src/http/router.ts';
import { Spans } from '../../src/http/trace-context.ts';
import { routes } from '../support/routes.ts';
import { describeBrowser, readLocale } from '../../src/features/portal/html/browser.ts';
import { readCookie } from '../../src/features/portal/sign-in/cookie.ts';
import { toPagePath } from '../../src/features/portal/sign-in/sign-in-pages.ts';
import { html, shorten } from '../../src/features/portal/html/html.ts';
import { linkPage, resolveOrigin } from '../../src/features/portal/origin.ts';
import { findEndOfDay } from '../../src/features/portal/forms/typed-values.ts';
import { findColumns, parseColumnMap, parseDefaults } from '../../src/transfer/columns.ts';
import { CsvRows } from '../../src/transfer/csv-rows.ts';
import { makeStockCsvReader } from '../../src/transfer/stock-rows.ts';
import { formatCsvRow, unescapeFormula } from '../../src/transfer/csv-cells.ts';
import { parseNumber } from '../../src/transfer/numbers.ts';
import { makeNdjsonReader } from '../../src/transfer/ndjson.ts';
import { resolveTarget } from '../../src/features/webhooks/ssrf-guard.ts';
import { chunksOf, readRecords, readRows } from '../transfer/read.ts';
import { WORKBOOK_PARSERS } from './workbook-parsers.ts';

export interface Parser {
  readonly samples: readonly string[];
  check(text: string, bytes: Buffer): void | Promise<void>;
}

const EUR = { code: 'EUR', decimals: 2 };
const SELLER = 1_900_000_000_001 as SellerId; // any whole number is one
const PRODUCT = '{"name":"Mug","category":"Kitchen","sku":"MUG-1","price":12.5,"stock":40}';
const STOCK = '{"changes":[{"sku":"a","set":1,"if":3},{"id":"prd_1","adjust":-1}],"source":"erp"}';
const FORM = '--b\r\ncontent-disposition: form-data; name="csrf"\r\n\r\nx\r\n--b\r\n'
  + 'Content-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n'
  + '\r\nname,sku\r\n--b--\r\n';
const CSV = 'name,category,sku,price,stock\r\n"a ""b""",c,d,1.50,2\r\n\r\ne;f,"g\nh",i,2,3\r\n';
const SHOP = 'ID,Type,SKU,Name,Categories,Regular price,Stock,Parent\n1,variable,a,b,"c, d",,,\n'
  + '2,variation,e,f,,"1,5",3,a\n';

const router = new Router(routes);
const spans = new Spans();
const cursors = makeCursors(Buffer.alloc(32, 1));
const CURSOR = cursors.format('products', { key: 'a', id: 1 }) ?? '';

export const PARSERS: Readonly<Record<string, Parser>> = {
  ...WORKBOOK_PARSERS,
  json: {
    samples: [PRODUCT, STOCK, '[1e3,-0,"\\u00e9\\"",{"a":{"b":[]}}]', '{"a":1,"\\u0061":2}'],
    check(text, bytes) {
      const value = parseJson(bytes);
      assert.deepEqual(value, JSON.parse(text));
      assert.deepEqual(parseJson(Buffer.from(JSON.stringify(value))), clean(value));
    },
  },
  query: {
    samples: ['limit=1&q=%C3%A9', 'q=a+b&sort=-name', 'q=&limit=%31'],
    check(text) {
      const known = { limit: {}, q: {}, sort: {} };
      for (const name of parseQuery(text, known).keys()) {
        assert.ok(Object.hasOwn(known, name));
      }
    },
  },
  cursor: {
    samples: [CURSOR, `${CURSOR}=`, CURSOR.slice(1)],
    check(text) {
      cursors.parse('products', text);
      assert.equal(text, CURSOR, 'accepted an altered cursor');
    },
  },
  path: {
    samples: ['/api/v1/products/sku/A%2FB', '/api/v1/products/prd_1', '/api/v1/webhooks/a/test'],
    check(text) {
      for (const value of Object.values(router.find('GET', text).parameters)) {
        assert.ok(value.isWellFormed());
      }
    },
  },
  accept: {
    samples: ['text/csv;q=0.5, application/json', '*/*;q=0.1', 'gzip;q=1.0, br;q=0, identity'],
    check(text) {
      assert.ok(['gzip', 'br', undefined].includes(negotiateCoding(text, ['br', 'gzip'])));
      const produces = ['application/json', 'text/csv'];
      assert.ok(produces.includes(negotiate(text, produces)));
    },
  },
  condition: {
    samples: ['"12"', 'W/"1", "2-gzip"', '*', ', "a" ,', `${'"1",'.repeat(50)}`],
    check(text) {
      findNoneMatch(text, '"12"');
      const { ifMatch = [] } = readPrecondition({ 'if-match': text, 'if-none-match': text });
      if (typeof ifMatch !== 'string') assert.ok(ifMatch.every(Number.isSafeInteger));
    },
  },
  idempotencyKey: {
    samples: ['"2b1c6f0e-7c0e"', 'bare', '"a\\"b\\\\"'],
    check(text) {
      const key = readIdempotencyKey({ 'idempotency-key': text }) ?? '';
      assert.match(key, /^[ -~]{1,255}$/);
    },
  },
  form: {
    samples: [FORM],
    async check(_, bytes) {
      const [whole, pieces] = [await readWhole(bytes, 10_000), await readWhole(bytes, 3)];
      assert.equal(pieces, whole, 'the result depends on the chunks');
    },
  },
  csv: {
    samples: [CSV, SHOP, 'sep=;\na;b\n"1";2', '\ufeffa\tb\n1\t2\r3\t4'],
    async check(text, bytes) {
      const [whole, pieces] = [await readTable(bytes, 64 * 1024), await readTable(bytes, 1)];
      assert.equal(pieces, whole, 'the result depends on the chunks');
      if (isUtf8(bytes)) await assertWritten(text);
    },
  },
  csvRows: {
    samples: [CSV, SHOP, `Handle,${CSV}`],
    async check(_, bytes) {
      const settings = { map: new Map(), defaults: new Map(), isPartial: true };
      await readRows(new CsvRows(EUR, settings), bytes);
    },
  },
  stockRows: {
    samples: ['sku,set\nA,1\nB,"1.234,0"', 'Artikelnr;id;Bestand;expect\r\nA;;12,0;1\n;x;-1;',
      'sku,adjust,sequence,reason\nA,-1,2,"a\nb"\n,,,'],
    async check(_, bytes) {
      const rows = makeStockCsvReader({ map: new Map(), hasSource: true });
      for await (const slice of rows.read(chunksOf(bytes))) {
        for (const { entry } of slice) {
          if ('issues' in entry) assert.ok(entry.issues.length > 0);
          else assert.ok(Number.isInteger(entry.change.set ?? entry.change.adjust));
        }
      }
    },
  },
  number: {
    samples: ['12', '-1.234,00', '1 234', '1,234,567.0', '\'+3', '12,000', '1.250,5'],
    check(text) {
      for (const mark of [undefined, 'point', 'comma'] as const) {
        const parsed = parseNumber(text, { mark, isWhole: true, isDifference: true });
        if ('error' in parsed || !Number.isSafeInteger(parsed.value)) continue;
        const format = { mark, isWhole: false };
        assert.deepEqual(parseNumber(String(parsed.value), format), parsed);
      }
    },
  },
  ndjsonRows: {
    samples: [`${PRODUCT}\n${PRODUCT}\r\n\n${STOCK}`, PRODUCT],
    async check(_, bytes) {
      await readRows(makeNdjsonReader(EUR), bytes);
    },
  },
  columns: {
    samples: ['name:Title,sku:Code', 'stock:0,category:Misc, and more', 'name,category,sku,price'],
    check(text) {
      assert.throws(() => findColumns(text.split(','), new Map()), { name: 'AppError' });
      let map: ReturnType<typeof parseColumnMap> = new Map();
      try {
        map = parseDefaults(text);
      } catch {
        map = parseColumnMap(text); // may reject the text, too
      }
      for (const column of map.values()) assert.notEqual(column, '');
    },
  },
  product: {
    samples: [PRODUCT, PRODUCT.replace('12.5', '1e3'), PRODUCT.replace('MUG-1', 'e\u0301')],
    check(_, bytes) {
      const { sku, priceMinor, stock } = parseNewProduct(parseJson(bytes), EUR);
      assert.equal(findSku(sku), sku);
      assert.ok(Number.isSafeInteger(priceMinor) && priceMinor >= 0 && Number.isInteger(stock));
    },
  },
  patch: {
    samples: [PRODUCT, '{"stock":0}', '{"name":null}', '{}'],
    check(_, bytes) {
      parseProductPatch(parseJson(bytes), EUR);
    },
  },
  stock: {
    samples: [STOCK, STOCK.replace('{', '{"complete":true,"zero_limit":10,"atomic":true,')],
    async check(_, bytes) {
      assert.ok(Array.isArray((await parseStockSync(parseJson(bytes))).entries));
    },
  },
  webhook: {
    samples: ['{"position":3}', '{"overlap":"24h"}', '{"overlap":"0s","position":-0}'],
    check(_, bytes) {
      const body = parseJson(bytes);
      assert.throws(() => [parseReplay(body, 5), parseRotation(body)], { name: 'AppError' });
    },
  },
  target: {
    samples: ['https://127.0.0.1/', 'https://[::ffff:10.0.0.1]/', 'https://0x7f.1/',
      'https://[2002:7f00:1::]/', 'https://169.254.169.254/', 'https://user@10.0.0.1:8443/#x'],
    async check(text) {
      const url = URL.parse(text);
      if (!url) return;
      const policy = { allowPrivate: false, allowHttp: true };
      const target = await resolveTarget(url, policy, async () => []);
      const addresses = 'addresses' in target ? target.addresses : [];
      for (const { address } of addresses) {
        assert.ok(!isAddressInRanges(address, PRIVATE), `sends to ${address}`);
      }
    },
  },
  address: {
    samples: ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1', '10.0.0.0/8', 'fe80::1%lo', '::/0'],
    check(text) {
      const plain = normaliseAddress(text);
      assert.equal(normaliseAddress(plain), plain);
      rateLimitPrefix(text);
      const ranges = parseAddressRanges([text]);
      if ('value' in ranges) isAddressInRanges('192.0.2.1', ranges.value);
    },
  },
  forwarded: {
    samples: ['for=192.0.2.1;proto=https, for="[2001:db8::1]:80"', 'for="a\\"b";by=_x', 'unknown',
      '192.0.2.1, ::ffff:10.0.0.1, 10.0.0.1:443', ',,for=1', 'for=a;for=b'],
    check(text) {
      for (const name of ['forwarded', 'x-forwarded-for']) {
        const address = readClientAddress({ [name]: text });
        assert.notEqual(isIP(address), 0);
        assert.equal(readClientAddress({ 'x-forwarded-for': address }), address);
      }
    },
  },
  trace: {
    samples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like'],
    check(text) {
      const { traceId, spanId, parentSpanId = spanId } = spans.start(text);
      assert.match(`${traceId}-${spanId}-${parentSpanId}`, /^[0-9a-f]{32}(?:-[0-9a-f]{16}){2}$/);
    },
  },
  id: {
    samples: [formatProductId(SELLER, 1_900_000_000_777 as never), 'prd_0', 'key_v', '',
      formatKeyId({ sellerId: SELLER, keyId: 1_900_000_000_777 as never })],
    check(text) {
      const [product, key] = [parseProductId(SELLER, text), parseKeyId(text)];
      if (product !== undefined) assert.equal(formatProductId(SELLER, product), text);
      if (key !== undefined) assert.equal(formatKeyId(key), text);
      parseApiKey(text);
      hashCode(text);
    },
  },
  time: {
    samples: ['2026-01-02T03:04:05.678Z', '2024-02-29T23:59:59+23:59', '24h', '99d', '2026-10-25'],
    check(text) {
      const at = parseTime(text);
      if (at !== undefined) assert.equal(parseTime(formatTime(at)), at);
      const durationMs = findDuration(text);
      if (durationMs !== undefined) assert.ok(durationMs >= 0);
      const end = findEndOfDay(text, 'Europe/Zurich');
      if (end !== undefined) assert.ok(Number.isSafeInteger(end));
    },
  },
  account: {
    samples: ['anna@shop.example', 'en-GB', 'de-u-nu-arab', 'Europe/Zurich', 'Etc/GMT+1', '123456'],
    check(text) {
      parseEmail(text);
      const [locale, zone] = [parseLocale(text), parseTimeZone(text)];
      if ('value' in locale) new Intl.NumberFormat(locale.value).format(1);
      if ('value' in zone) findEndOfDay('2026-01-31', zone.value);
      new Intl.DateTimeFormat(readLocale(text)).format(0);
      findTotpStep('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' as TotpSecret, text, 0, -1);
    },
  },
  browser: {
    samples: ['Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0', '__Host-session=x; a=b',
      '127.0.0.1:8080', 'localhost', '[::1]', '/products?q=a', '//evil.example', '/\\evil.example'],
    check(text) {
      assert.ok(describeBrowser(text).length < 100);
      assert.ok(!readCookie(text, 'session')?.includes(';'));
      const there = new URL(`https://shop.example${linkPage('/a', toPagePath(text))}`);
      assert.equal(there.host, 'shop.example', 'redirects to another host');
      assert.match(there.pathname, /^\/a\/portal(?:\/|$)/, 'leaves the portal');
      const { hostname } = new URL(
        resolveOrigin({ host: text, isEncrypted: false, isLocal: true }, undefined),
      );
      assert.match(hostname, /^(?:localhost|127\.0\.0\.1|\[::1\])$/);
    },
  },
  page: {
    samples: ['<b>&amp;"\'', 'a'.repeat(90), '😀'.repeat(30), '=1+1', '-5', "'=1"],
    async check(text) {
      assert.doesNotMatch(html`${text}`.text, /[<>"']/);
      assert.ok(Buffer.byteLength(html`${shorten(text, 80)}`.text) <= 80);
      await assertWritten(text);
      assert.equal(foldText(foldText(text)), foldText(text));
      const decimal = parseNumber(text, { mark: undefined, isWhole: false });
      if ('value' in decimal) assert.ok(!Number.isNaN(decimal.value));
    },
  },
};

const PRIVATE = ['127.0.0.0/8', '10.0.0.0/8', '192.168.0.0/16', '172.16.0.0/12', '169.254.0.0/16',
  '0.0.0.0/8', '::1/128', 'fc00::/7', 'fe80::/10'];

/** Normalizes -0 to 0. */
function clean(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** The result, or the error code. */
async function readWhole(bytes: Buffer, sizeBytes: number): Promise<string> {
  const parts: unknown[] = [];
  try {
    for await (const part of readForm(chunksOf(bytes, sizeBytes), 'b')) {
      parts.push([part.name, part.fileName, await readField(part, 10_000)]);
    }
  } catch (error) {
    parts.push(rejection(error));
  }
  return JSON.stringify(parts);
}

async function readTable(bytes: Buffer, sizeBytes: number): Promise<string> {
  try {
    return JSON.stringify(await readRecords(bytes, sizeBytes));
  } catch (error) {
    return rejection(error);
  }
}

/** Any error other than AppError is a failure of the parser. */
function rejection(error: unknown): string {
  if (error instanceof Error && error.name === 'AppError') return error.message;
  throw error;
}

/** A text survives a round trip through CSV. */
async function assertWritten(text: string): Promise<void> {
  const rows = [['x', 'y', 'z'], ['a', text, 'b']].map(formatCsvRow);
  const [, record] = await readRecords(rows.join(''));
  assert.deepEqual(record?.cells.map(unescapeFormula), ['a', text, 'b']);
}

/** Headers as sent by a trusted proxy. */
function readClientAddress(headers: IncomingHttpHeaders): string {
  const socket = { remoteAddress: '192.0.2.1' };
  // The cast: only these members of the request are read.
  const request = { headers, socket } as IncomingMessage;
  return makeTrustedProxies(['192.0.2.1']).readClientAddress(request);
}
