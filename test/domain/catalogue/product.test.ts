/** Products: valid and invalid members, and their JSON. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Currency } from '../../../src/domain/catalogue/currency.ts';
import { formatProductId, type ProductId, type SellerId } from '../../../src/domain/id.ts';
import { formatProduct, parseNewProduct } from '../../../src/domain/catalogue/product.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import { forRandom, type Random } from '../random.ts';
import { catchAppError } from '../validation-errors.ts';

const EUR: Currency = { code: 'EUR', decimals: 2 };
const JPY: Currency = { code: 'JPY', decimals: 0 };
const KWD: Currency = { code: 'KWD', decimals: 3 };
const CURRENCIES = [EUR, JPY, KWD];
const VALID = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 19.99, stock: 7 };

/** Pointer and code of every error in a valid body in which these members are replaced. */
function errors(members: object, currency = EUR): (readonly [string | undefined, string])[] {
  const refusal = catchAppError(() => parseNewProduct({ ...VALID, ...members }, currency));
  assert.equal(refusal.code, 'invalid_data');
  return refusal.issues.map(({ pointer, code }) => [pointer, code]);
}

test('accepts a product with all five members', () => {
  assert.deepEqual(parseNewProduct(VALID, EUR), {
    name: 'Mug', category: 'Kitchen', sku: 'MUG-1', priceMinor: 1999, stock: 7,
  });
});

test('reports every missing member at once', () => {
  const refusal = catchAppError(() => parseNewProduct({}, EUR));
  assert.deepEqual(refusal.issues.map(({ pointer, code }) => [pointer, code]), [
    ['/name', 'required'], ['/category', 'required'], ['/sku', 'required'],
    ['/price', 'required'], ['/stock', 'required'],
  ]);
});

test('reports every invalid and unknown member at once', () => {
  assert.deepEqual(
    errors({ name: ' ', category: 5, sku: 'a\0', price: 1.234, stock: -1, colour: 'red' }), [
      ['/name', 'blank'], ['/category', 'type'], ['/sku', 'characters'],
      ['/price', 'precision'], ['/stock', 'range'], ['/colour', 'unknown'],
    ],
  );
});

test('points to unknown members with RFC 6901 escapes', () => {
  const names = ['a/b', 'm~n', '~1', '', '__proto__', 'constructor', 'Name'];
  const unknown = names.map((name) => `${JSON.stringify(name)}:{"name":"x"}`).join();
  const body: unknown = JSON.parse(`${JSON.stringify(VALID).slice(0, -1)},${unknown}}`);
  const { issues } = catchAppError(() => parseNewProduct(body, EUR));
  assert.deepEqual(issues.map(({ pointer, code }) => [pointer, code]), [
    '/a~1b', '/m~0n', '/~01', '/', '/__proto__', '/constructor', '/Name',
  ].map((pointer) => [pointer, 'unknown']));
});

for (const body of [null, [], 'text', 5, true, undefined]) {
  test(`rejects ${JSON.stringify(body)} as a body`, () => {
    const { code, issues } = catchAppError(() => parseNewProduct(body, EUR));
    assert.equal(code, 'invalid_data');
    assert.deepEqual(issues.map((issue) => [issue.pointer, issue.code]), [['', 'type']]);
  });
}

describe('a title', () => {
  for (const [member, limit] of [['name', 200], ['category', 100]] as const) {
    test(`of ${limit} code points is a valid ${member}, but not one of ${limit + 1}`, () => {
      for (const character of ['a', 'ä', '部', '😀']) {
        const text = character.repeat(limit);
        assert.equal(parseNewProduct({ ...VALID, [member]: text }, EUR)[member], text);
        assert.deepEqual(errors({ [member]: text + character }), [[`/${member}`, 'length']]);
      }
    });

    test(`is stored as a ${member} exactly as sent`, () => {
      const texts = [' Mug ', 'e\u0301', '\u00e9', 'a\u200bb', '<b>"&\\', '\u202eabc', '\ufdd0'];
      for (const text of texts) {
        assert.equal(parseNewProduct({ ...VALID, [member]: text }, EUR)[member], text);
      }
    });

    test(`is rejected as a ${member} if it is blank, malformed or not a string`, () => {
      for (const [value, code] of [
        ['', 'blank'], [' \t ', 'blank'], ['\u200b\u200d\ufeff', 'blank'], ['\u3000', 'blank'],
        ['a\nb', 'characters'], ['a\0', 'characters'], ['a\u2028b', 'characters'],
        ['a\ud800', 'characters'], ['\udc00a', 'characters'],
        [null, 'type'], [5, 'type'], [['Mug'], 'type'], [{}, 'type'], [true, 'type'],
      ] as const) {
        const shown = JSON.stringify(value);
        assert.deepEqual(errors({ [member]: value }), [[`/${member}`, code]], shown);
      }
    });
  }
});

describe('a SKU', () => {
  const parseSku = (sku: unknown): string => parseNewProduct({ ...VALID, sku }, EUR).sku;

  test('is normalized to NFC', () => {
    assert.equal(parseSku('cafe\u0301'), 'caf\u00e9');
    assert.equal(parseSku('\u212b'), '\u00c5');
    assert.equal(parseSku('\u1100\u1161'), '\uac00');
  });

  test('keeps its case and its compatibility characters', () => {
    for (const sku of ['abc', 'ABC', 'ﬁ', 'Ａ', 'a b']) assert.equal(parseSku(sku), sku);
  });

  test('is counted in code points of its normal form', () => {
    assert.equal(parseSku('e\u0301'.repeat(64)), '\u00e9'.repeat(64));
    assert.equal(parseSku('😀'.repeat(64)), '😀'.repeat(64));
    for (const sku of ['a'.repeat(65), 'e\u0301'.repeat(65), '😀'.repeat(65)]) {
      assert.deepEqual(errors({ sku }), [['/sku', 'length']]);
    }
  });

  for (const sku of [
    ' A', 'A ', '\u00a0A', 'A\u3000', 'A\u200bB', 'A\ufeffB', 'A\u2060', 'A\u202eB', 'A\u2066',
    'A\u200f',
    'A\ufe0f', 'A\u{e0100}', 'A\u00adB', 'A\nB', 'A\0', 'A\u2029', 'A\ud800', '\udfffA',
    'A\ud800B\udc00',
  ]) {
    test(`is not ${JSON.stringify(sku).replaceAll(/[^ -~]/gu, escapeCharacter)}`, () => {
      assert.deepEqual(errors({ sku }), [['/sku', 'characters']]);
    });
  }

  test('is neither blank nor another type', () => {
    for (const [sku, code] of [
      ['', 'blank'], [' ', 'blank'], ['\u200b', 'blank'], [12345, 'type'], [null, 'type'],
      [['A'], 'type'],
    ] as const) {
      assert.deepEqual(errors({ sku }), [['/sku', code]]);
    }
  });
});

describe('a price', () => {
  const accepted: readonly (readonly [price: number, currency: Currency, minor: number])[] = [
    [0, EUR, 0], [0.01, EUR, 1], [19.9, EUR, 1990], [1e3, EUR, 100_000],
    [999_999_999_999.99, EUR, 99_999_999_999_999], [1500, JPY, 1500],
    [999_999_999_999, JPY, 999_999_999_999],
    [1.234, KWD, 1234], [999_999_999_999.999, KWD, 999_999_999_999_999],
  ];
  for (const [price, currency, minor] of accepted) {
    test(`may be ${price} in ${currency.code}`, () => {
      assert.equal(parseNewProduct({ ...VALID, price }, currency).priceMinor, minor);
    });
  }

  test('of -0 is 0', () => {
    assert.ok(Object.is(parseNewProduct({ ...VALID, price: -0 }, EUR).priceMinor, 0));
  });

  const refused: readonly (readonly [price: unknown, currency: Currency, code: string])[] = [
    [1.005, EUR, 'precision'], [0.001, EUR, 'precision'], [1e-9, EUR, 'precision'],
    [0.5, JPY, 'precision'], [1.2345, KWD, 'precision'], [-0.01, EUR, 'range'], [-1, JPY, 'range'],
    [1e12, EUR, 'range'], [1e12, JPY, 'range'], [1e300, KWD, 'range'], [NaN, EUR, 'range'],
    [Infinity, EUR, 'range'], ['19.99', EUR, 'type'], ['', EUR, 'type'], [null, EUR, 'type'],
    [true, EUR, 'type'], [[1], EUR, 'type'],
  ];
  for (const [price, currency, code] of refused) {
    test(`may not be ${typeof price} ${price} in ${currency.code}: ${code}`, () => {
      assert.deepEqual(errors({ price }, currency), [['/price', code]]);
    });
  }

  test('depends on the decimals of its currency', () => {
    for (const [currency, words] of [
      [JPY, /no decimals.*JPY/], [KWD, /3 decimals.*KWD/],
    ] as const) {
      const run = () => parseNewProduct({ ...VALID, price: 0.12345 }, currency);
      assert.match(catchAppError(run).issues[0]?.detail ?? '', words);
    }
  });
});

describe('a stock', () => {
  for (const stock of [0, 1, 1_000_000_000, 1e9]) {
    test(`may be ${stock}`, () => {
      assert.equal(parseNewProduct({ ...VALID, stock }, EUR).stock, stock);
    });
  }

  test('of -0 is 0', () => {
    assert.ok(Object.is(parseNewProduct({ ...VALID, stock: -0 }, EUR).stock, 0));
  });

  for (const [stock, code] of [
    [-1, 'range'], [1_000_000_001, 'range'], [2 ** 53, 'range'], [1.5, 'precision'],
    [NaN, 'precision'],
    [Infinity, 'precision'], ['7', 'type'], [null, 'type'], [false, 'type'], [[7], 'type'],
  ] as const) {
    test(`may not be ${typeof stock} ${stock}: ${code}`, () => {
      assert.deepEqual(errors({ stock }), [['/stock', code]]);
    });
  }
});

describe('the JSON of a product', () => {
  test('has its members in this order', () => {
    const sellerId = 1 as SellerId;
    const id = 2 as ProductId;
    const text = formatProduct({
      ...parseNewProduct(VALID, EUR), sellerId, id, currency: EUR, position: 3, createdAt: 0,
      updatedAt: 1,
    });
    assert.equal(text, `{"id":"${formatProductId(sellerId, id)}","name":"Mug","category":"Kitchen",`
      + '"sku":"MUG-1","price":19.99,"currency":"EUR","stock":7,"position":3,'
      + '"created_at":"1970-01-01T00:00:00.000Z","updated_at":"1970-01-01T00:00:00.001Z"}');
  });

  test('is the same as that of JSON.stringify', () => {
    forRandom(3_000, (random) => {
      const sellerId = random.below(2 ** 52) as SellerId;
      const id = random.below(2 ** 52) as ProductId;
      const currency = random.pick(CURRENCIES);
      const price = Number(`${random.below(1e12)}.${random.below(10 ** currency.decimals)}`);
      const sent = {
        name: pickText(random), category: pickText(random), sku: `A${random.below(1e9)}`, price,
        stock: random.below(1e9 + 1),
      };
      const product = parseNewProduct(sent, currency);
      const [createdAt, updatedAt] = [random.below(2e12), random.below(2e12)];
      const position = random.below(1e9);
      const expected = JSON.stringify({
        id: formatProductId(sellerId, id), name: sent.name, category: sent.category, sku: sent.sku,
        price,
        currency: currency.code, stock: sent.stock, position,
        created_at: new Date(createdAt).toISOString(),
        updated_at: new Date(updatedAt).toISOString(),
      });
      const kept = { ...product, sellerId, id, currency, position, createdAt, updatedAt };
      assert.equal(formatProduct(kept), expected);
    });
  });

  test('escapes all characters', () => {
    const text = '"\\/\u0000\u001f\u007f\u2028\ud800😀</script>';
    const kept = {
      name: text, category: text, sku: text as Sku, priceMinor: 0, stock: 0,
      sellerId: 1 as SellerId,
      id: 1 as ProductId, currency: JPY, position: 1, createdAt: 0, updatedAt: 0,
    };
    const { name, category, sku } = JSON.parse(formatProduct(kept)) as Record<string, unknown>;
    assert.deepEqual([name, category, sku], [text, text, text]);
  });
});

const TEXT_PARTS = [
  'a', ' ', '"', '\\', '/', '<', '&', 'é', '部', '😀', '\u200d', '\u00a0', '{', '\ufffe',
];

function pickText(random: Random): string {
  return `T${Array.from({ length: random.below(40) }, () => random.pick(TEXT_PARTS)).join('')}`;
}

function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
