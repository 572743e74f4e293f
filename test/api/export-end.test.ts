/**
 * The record of rows and position with which an export ends on request (`end=record`), and that
 * whatever reads rows leaves it out.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { routes } from '../support/routes.ts';
import { NDJSON, openShop, type Shop, STOCK } from './stock/stock.ts';

const CSV = 'text/csv';
const PRODUCTS = '/api/v1/products';
const LEVELS = { A: 1, B: 2, C: 3 };

const EXPORTS = routes.filter(({ method, produces }) => method === 'GET' && produces.includes(CSV))
  .map(({ path }) => path);

async function send({ seller }: Shop, path: string, accept: string) {
  const answer = await seller.send({ path, headers: { accept } });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

const QUERIES = ['at=2', 'fields=name', 'q=no'].map((query) => `${PRODUCTS}?${query}`);

for (const path of [...EXPORTS, ...QUERIES]) {
  test(`ends an export of ${path} with a record, and changes nothing else`, async (t) => {
    const shop = await openShop(t, LEVELS);
    for (const type of [CSV, NDJSON]) {
      const plain = await send(shop, path, type);
      const { headers, text } = await send(shop, path, `${type}; end=record`);
      assert.equal(headers['content-type'], `${plain.headers['content-type']}; end=record`);
      assert.ok(text.startsWith(plain.text));
      const rows = plain.text.split('\n').length - (type === CSV ? 2 : 1);
      const position = path.includes('at=2') ? 2 : 3;
      assert.equal(headers['seller-position'], String(position));
      const columns = plain.text.split('\r\n', 1)[0]?.split(',').length ?? 0;
      assert.equal(text.slice(plain.text.length), type === NDJSON
        ? `{"end":{"rows":${rows},"position":${position}}}\n`
        : `#end rows=${rows} position=${position}${','.repeat(columns - 1)}\r\n`);
    }
  });
}

test('takes the parameter from the range of the media type that it sends', async (t) => {
  const shop = await openShop(t, LEVELS);
  for (const [accept, query, type] of [
    [`${NDJSON};q=0.5, ${CSV};END="record"`, '', `${CSV}; charset=utf-8; end=record`],
    [`${CSV};end=record;q=0.5`, '', `${CSV}; charset=utf-8; end=record`],
    [`${CSV};end=record;q=0.5, ${NDJSON}`, '', NDJSON],
    [`${NDJSON};end=record`, '?format=csv', `${CSV}; charset=utf-8`],
    [`${CSV};end=record`, '?format=csv', `${CSV}; charset=utf-8; end=record`],
    [`${CSV};end=other`, '', `${CSV}; charset=utf-8`],
    ['application/json;end=record', '', 'application/json'],
  ] as const) {
    const { headers } = await send(shop, `${PRODUCTS}${query}`, accept);
    assert.equal(headers['content-type'], type, accept);
  }
});

describe('the end record of a file', () => {
  const IMPORT = `${PRODUCTS}/import`;

  for (const [type, path, from] of [
    [CSV, IMPORT, PRODUCTS], [NDJSON, IMPORT, PRODUCTS],
    [CSV, STOCK, `${PRODUCTS}?fields=sku,stock`],
  ] as const) {
    test(`is left out by ${path}: ${type}`, async (t) => {
      const shop = await openShop(t, LEVELS);
      const { text } = await send(shop, from, `${type}; end=record`);
      const headers = { 'content-type': type };
      const { text: report } = await shop.seller.send({
        method: 'POST', path: `${path}?report=failed`, headers, body: text,
      });
      const { summary, ...row } = JSON.parse(report);
      assert.deepEqual(row, {});
      assert.equal(summary.unchanged, 3);
      assert.equal(summary.failed, 0);
    });
  }

  test('is left out of stock changes as NDJSON, and is no row of a file', async (t) => {
    const shop = await openShop(t, LEVELS);
    const end = '{"end":{"rows":1,"position":3}}\n';
    const sync = (body: string) => shop.seller.send({
      method: 'POST', path: STOCK, headers: { 'content-type': NDJSON }, body,
    });
    const lines = (await sync(`{"sku":"A","set":9}\n${end}`)).text.trimEnd().split('\n');
    assert.equal(lines.length, 2);
    assert.equal(JSON.parse(lines[1] ?? '').summary.failed, 0);
    assert.match((await sync(end)).text, /The file is empty/);
  });

  test('is an invalid row where it has more than an end', async (t) => {
    const shop = await openShop(t, LEVELS);
    for (const [type, body] of [
      [NDJSON, '{"end":{"rows":1,"position":3},"sku":"A"}\n'], [NDJSON, '{"end":1}\n'],
      [NDJSON, '{"end":null}\n'], [NDJSON, '{"end":{}}\n'],
      [CSV, 'sku,stock\n#end rows=1 position=3,5\n'], [CSV, 'sku,stock\n#end rows=1,\n'],
    ] as const) {
      const headers = { 'content-type': type };
      const path = `${IMPORT}?mode=update`;
      const { text } = await shop.seller.send({ method: 'POST', path, headers, body });
      assert.match(text, /"summary":\{.*"failed":1,/, body);
    }
  });
});
