/** The check of statements finds every reference that is not restricted to the caller's seller. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findUnrestricted } from './seller-condition.ts';

const COLUMNS = new Map([['seller', 'id'], ['product', 'seller_id'], ['webhook', 'seller_id']]);

function find(text: string, ...parameters: readonly string[]): readonly string[] {
  return findUnrestricted(text, new Set(parameters.length > 0 ? parameters : [':s']), COLUMNS);
}

describe('restricted to one seller', () => {
  const restricted = [
    'SELECT id FROM product WHERE seller_id = :s AND id = :id',
    'SELECT id FROM product WHERE (:s = seller_id AND id > 3) AND stock > 0',
    'SELECT id FROM product AS p WHERE p.seller_id = :s AND (stock > 1 OR price = 2)',
    'SELECT id FROM product WHERE id BETWEEN 1 AND 2 AND seller_id = :s',
    'SELECT 1 FROM webhook AS w JOIN seller AS s ON s.id = w.seller_id WHERE w.seller_id = :s',
    'SELECT 1 FROM seller AS s LEFT JOIN product AS p ON p.seller_id = s.id WHERE s.id = :s',
    'SELECT 1 FROM json_each(:ids) AS n CROSS JOIN product AS p'
      + ' ON p.seller_id = :s AND p.id = n.value',
    'SELECT (SELECT count(*) FROM product AS p WHERE p.seller_id = s.id)'
      + ' FROM seller AS s WHERE id = :s',
    'SELECT id FROM product'
      + ' WHERE (seller_id, id) IN (SELECT seller_id, id FROM webhook WHERE seller_id = :s)',
    'SELECT n.id FROM (SELECT * FROM product WHERE seller_id = :s) AS n',
    'SELECT id FROM product WHERE seller_id = :s'
      + ' UNION ALL SELECT id FROM webhook WHERE seller_id = :s',
    'WITH own AS (SELECT seller_id AS shop FROM webhook WHERE seller_id = :s)'
      + ' SELECT p.id FROM own JOIN product AS p ON p.seller_id = own.shop',
    'WITH RECURSIVE n (id) AS (SELECT id FROM product WHERE seller_id = :s UNION ALL'
      + ' SELECT p.id FROM n CROSS JOIN product AS p WHERE p.seller_id = :s AND p.id > n.id)'
      + ' SELECT id FROM n',
    'UPDATE product SET stock = 1 WHERE seller_id = :s AND id = :id RETURNING id',
    'DELETE FROM product WHERE seller_id = :s',
    'INSERT INTO product (id, seller_id) VALUES (:id, :s), (:other, :s)'
      + ' ON CONFLICT (seller_id, id) DO UPDATE SET stock = excluded.stock',
    'INSERT INTO product (seller_id, id) SELECT :s, value FROM json_each(:ids)',
    'WITH gone AS (DELETE FROM product WHERE seller_id = :s RETURNING seller_id, id)'
      + ' INSERT INTO webhook (seller_id, id) SELECT seller_id, id FROM gone',
    'SELECT name FROM currency',
  ];
  for (const text of restricted) test(text, () => assert.deepEqual(find(text), []));

  test('parameters by place, with a cast', () => {
    const text = 'SELECT 1 FROM product WHERE id = ? AND seller_id = ?';
    assert.deepEqual(find(text, '?2'), []);
    assert.deepEqual(find(text, '?1'), ['product']);
    assert.deepEqual(find('SELECT 1 FROM product WHERE seller_id = $1::bigint', '$1'), []);
  });
});

describe('not restricted', () => {
  const unrestricted: readonly (readonly [text: string, ...references: readonly string[]])[] = [
    [
      'SELECT url FROM webhook WHERE :s = :s',
      'webhook',
    ],
    [
      'SELECT url FROM webhook WHERE seller_id = seller_id',
      'webhook',
    ],
    [
      'SELECT url FROM webhook WHERE seller_id = :id',
      'webhook',
    ],
    [
      'SELECT url FROM webhook WHERE seller_id = :s OR id = :id',
      'webhook',
    ],
    [
      'SELECT url FROM webhook WHERE (seller_id = :s OR id = :id) AND id > 0',
      'webhook',
    ],
    [
      'SELECT url FROM webhook WHERE NOT seller_id = :s',
      'webhook',
    ],
    [
      'SELECT url FROM webhook WHERE seller_id <> :s',
      'webhook',
    ],
    [
      'SELECT url FROM webhook WHERE seller_id IN (:s, :other)',
      'webhook',
    ],
    [
      'SELECT url FROM webhook WHERE seller_id + 0 = :s',
      'webhook',
    ],
    [
      'SELECT url FROM webhook WHERE CASE WHEN id = 1 AND seller_id = :s THEN 1 ELSE 1 END',
      'webhook',
    ],
    [
      'SELECT (SELECT max(id) FROM product) FROM webhook WHERE seller_id = :s',
      'product',
    ],
    [
      'SELECT coalesce((SELECT max(id) FROM product), 0) FROM webhook WHERE seller_id = :s',
      'product',
    ],
    [
      'SELECT 1 FROM webhook WHERE seller_id = :s AND EXISTS (SELECT 1 FROM product WHERE id = 2)',
      'product',
    ],
    [
      'SELECT 1 FROM webhook WHERE seller_id IN (SELECT seller_id FROM product)',
      'product', 'webhook',
    ],
    [
      'SELECT 1 FROM webhook AS w JOIN product AS p ON p.id = w.id WHERE w.seller_id = :s',
      'product AS p',
    ],
    [
      'SELECT 1 FROM product AS p LEFT JOIN webhook AS w ON w.seller_id = :s AND p.seller_id = :s',
      'product AS p',
    ],
    [
      'SELECT 1 FROM product WHERE seller_id = :s UNION SELECT 1 FROM webhook',
      'webhook',
    ],
    [
      'WITH every AS (SELECT seller_id FROM webhook) SELECT 1 FROM product'
        + ' WHERE seller_id IN (SELECT seller_id FROM every)',
      'webhook', 'product',
    ],
    [
      'DELETE FROM product WHERE id = :id',
      'product',
    ],
    [
      'UPDATE product SET stock = 1',
      'product',
    ],
    [
      'UPDATE product SET seller_id = :other WHERE seller_id = :s',
      'product: SET seller_id',
    ],
    [
      'INSERT INTO product (seller_id, id) VALUES (:s, 1), (:other, 1)',
      'INTO product',
    ],
    [
      'INSERT INTO product (seller_id, id) SELECT seller_id, id FROM webhook',
      'webhook', 'INTO product',
    ],
    [
      'INSERT INTO product (seller_id, id) VALUES (:s, 1) ON CONFLICT (id) DO UPDATE SET stock = 1',
      'product: ON CONFLICT',
    ],
  ];
  for (const [text, ...references] of unrestricted) {
    test(text, () => assert.deepEqual([...find(text)].sort(), [...references].sort()));
  }

  test('a join that keeps rows of both sides is not supported', () => {
    assert.throws(() => find('SELECT 1 FROM product FULL JOIN webhook ON true'), /unsupported/);
  });
});
