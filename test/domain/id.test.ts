/** Ids: integers internally, opaque ordered strings in the API. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  formatKeyId, formatProductId, formatSellerId, formatWebhookId, type KeyId, nextId, parseKeyId,
  parseProductId, parseSellerId, parseWebhookId, type ProductId, randomId, type SellerId,
  type WebhookId,
} from '../../src/domain/id.ts';
import { forRandom, type Random } from './random.ts';

const SELLER = 1_809_738_798_774_277 as SellerId;
const SPELLED = '1jduaj3pe05';

/** A random safe integer, with every order of magnitude equally likely. */
function pickId(random: Random): number {
  const id = random.below(2 ** (1 + random.below(53)));
  return random.below(50) === 0 ? Number.MAX_SAFE_INTEGER : id;
}

test('formats ids in base32hex, eleven digits per number', () => {
  assert.equal(formatSellerId(SELLER), `sel_${SPELLED}`);
  assert.equal(formatSellerId(0 as SellerId), 'sel_00000000000');
  assert.equal(formatSellerId(Number.MAX_SAFE_INTEGER as SellerId), 'sel_7vvvvvvvvvv');
  assert.equal(formatProductId(SELLER, 7 as ProductId), `prd_00000000007${SPELLED}`);
  assert.equal(formatKeyId({ sellerId: SELLER, keyId: 7 as KeyId }), `key_00000000007${SPELLED}`);
  const webhook = { sellerId: SELLER, id: 7 as WebhookId };
  assert.equal(formatWebhookId(webhook), `whk_00000000007${SPELLED}`);
});

test('generates random ids within the range of their millisecond', () => {
  const ids = Array.from({ length: 200 }, () => randomId(1_000));
  assert.ok(new Set(ids).size > 1);
  assert.ok(ids.every((id) => id >= nextId(0, 1_000) && id < nextId(0, 1_001)));
  assert.ok(randomId(0) > 0);
});

test('parses every id that it formats, within 40 characters', () => {
  forRandom(5_000, (random) => {
    const sellerId = pickId(random) as SellerId;
    const keyId = pickId(random) as KeyId;
    const productId = pickId(random) as ProductId;
    const product = formatProductId(sellerId, productId);
    const key = formatKeyId({ sellerId, keyId });
    const seller = formatSellerId(sellerId);
    assert.equal(parseSellerId(seller), sellerId);
    assert.deepEqual(parseKeyId(key), { sellerId, keyId });
    assert.equal(parseProductId(sellerId, product), productId);
    const webhook = formatWebhookId({ sellerId, id: productId as number as WebhookId });
    assert.equal(parseWebhookId(sellerId, webhook), productId);
    assert.equal(parseWebhookId((sellerId + 1) as SellerId, webhook), undefined);
    assert.equal(parseWebhookId(sellerId, product), undefined);
    for (const text of [product, key, seller, webhook]) assert.ok(text.length <= 40, text);
  });
});

test('orders strings like their numbers', () => {
  forRandom(5_000, (random) => {
    const [a, b] = [pickId(random) as ProductId, pickId(random) as ProductId];
    const [textA, textB] = [formatProductId(SELLER, a), formatProductId(SELLER, b)];
    assert.equal(Math.sign(a - b), textA < textB ? -1 : Number(textA > textB), `${a} and ${b}`);
  });
});

test('starts each millisecond with a larger id, 1024 after that of the one before', () => {
  const at = Date.parse('2026-01-02T03:04:05.678Z');
  assert.equal(nextId(0, at + 1) - nextId(0, at), 1024);
  assert.ok(Number.isSafeInteger(nextId(0, Date.parse('2248-01-01T00:00:00Z'))));
  assert.equal(nextId(nextId(0, at), at - 1), nextId(0, at) + 1);
});

test('does not parse the product id of another seller', () => {
  forRandom(1_000, (random) => {
    const owner = pickId(random) as SellerId;
    const other = (owner === 0 ? 1 : owner - 1) as SellerId;
    const text = formatProductId(owner, pickId(random) as ProductId);
    assert.equal(parseProductId(other, text), undefined);
  });
});

describe('does not parse', () => {
  const product = formatProductId(SELLER, 7 as ProductId);
  const key = formatKeyId({ sellerId: SELLER, keyId: 7 as KeyId });
  const seller = formatSellerId(SELLER);
  const parsers = [
    ['product', (text: string) => parseProductId(SELLER, text), product],
    ['key', parseKeyId, key],
    ['seller', parseSellerId, seller],
  ] as const;
  for (const [noun, parse, valid] of parsers) {
    const digits = valid.slice(4);
    const junk = [
      '', valid.slice(0, 4), digits, valid.slice(0, -1), `${valid}0`, ` ${valid}`, `${valid}\n`,
      valid.toUpperCase(), `PRD_${digits}`, `${valid.slice(0, -1)}w`, `${valid.slice(0, -1)}-`,
      `${valid.slice(0, -1)} `, `${valid.slice(0, -2)}.1`,
      `${valid.slice(0, 4)}${'v'.repeat(digits.length)}`,
      `${valid.slice(0, 4)}8${digits.slice(1)}`, `${valid.slice(0, 4)}-${digits.slice(1)}`,
      ...[product, key, seller].filter((other) => other !== valid),
    ];
    for (const text of junk) {
      test(`${JSON.stringify(text)} as a ${noun} id`, () => assert.equal(parse(text), undefined));
    }
  }
});
