-- The history tells who moved which stock, and why; and each change names the one before it of the
-- same product, so that the way of one product is walked without an index over all of them.

CREATE TABLE change_of_003 (
  seller_id    INTEGER NOT NULL REFERENCES seller (id),
  position     INTEGER NOT NULL CHECK (position > 0),
  type         TEXT    NOT NULL CHECK (type IN ('stock', 'created', 'updated', 'deleted')),
  product_id   INTEGER NOT NULL CHECK (product_id > 0),
  key_id       INTEGER NOT NULL CHECK (key_id > 0),
  at           INTEGER NOT NULL CHECK (at >= 0),
  stock_before INTEGER NOT NULL CHECK (stock_before BETWEEN 0 AND 1000000000),
  stock_after  INTEGER NOT NULL CHECK (stock_after BETWEEN 0 AND 1000000000),
  -- The product's JSON as it was answered at that position, absent where only the stock moved.
  product      TEXT CHECK (product IS NOT NULL OR type = 'stock'),
  -- After the change; of a deleted product, the last one. Its length is checked in `product`, for
  -- to count the characters of a text is dear, and these rows are the most that is written.
  sku          TEXT    NOT NULL,
  -- Position of the change of the same product before this one; NULL for its first.
  prior        INTEGER CHECK (prior > 0 AND prior < position),
  reason       TEXT CHECK (reason IS NULL OR length(reason) BETWEEN 1 AND 200),
  source       TEXT CHECK (source IS NULL OR length(source) BETWEEN 1 AND 64),
  sequence     INTEGER CHECK (sequence >= 0),
  PRIMARY KEY (seller_id, position)
) STRICT, WITHOUT ROWID;

INSERT INTO change_of_003
SELECT seller_id, position, type, product_id, key_id, at, stock_before, stock_after, product,
  -- Until now a stock moved alone only by a patch or an import, which keep the SKU.
  coalesce(product ->> '$.sku', (
    SELECT s.product ->> '$.sku' FROM change AS s
    WHERE s.seller_id = c.seller_id AND s.position = c.described)),
  prior, NULL, NULL, NULL
FROM (
  SELECT *,
    lag(position) OVER way AS prior,
    max(CASE WHEN product IS NOT NULL THEN position END) OVER way AS described
  FROM change
  WINDOW way AS (PARTITION BY seller_id, product_id ORDER BY position)
) AS c
ORDER BY seller_id, position;

DROP TABLE change;
ALTER TABLE change_of_003 RENAME TO change;

-- The few changes by which a product that is not there any more can be found.
CREATE INDEX change_deleted ON change (seller_id, product_id) WHERE type = 'deleted';
CREATE INDEX change_deleted_sku ON change (seller_id, sku) WHERE type = 'deleted';

-- From a time to a position: the last change of each minute in which there was one.
CREATE TABLE change_minute (
  seller_id INTEGER NOT NULL REFERENCES seller (id),
  minute    INTEGER NOT NULL CHECK (minute >= 0),
  position  INTEGER NOT NULL CHECK (position > 0),
  PRIMARY KEY (seller_id, minute)
) STRICT, WITHOUT ROWID;

INSERT INTO change_minute
SELECT seller_id, at / 60000, max(position) FROM change GROUP BY seller_id, at / 60000;

-- Position of the newest change of a product that has its JSON: it is kept as long as the product.
ALTER TABLE product ADD COLUMN snapshot_position INTEGER NOT NULL DEFAULT 0
  CHECK (snapshot_position >= 0);

UPDATE product SET snapshot_position = s.position
FROM (
  SELECT seller_id, product_id, max(position) AS position FROM change
  WHERE product IS NOT NULL GROUP BY seller_id, product_id
) AS s
WHERE s.seller_id = product.seller_id AND s.product_id = product.id;

-- Changes up to this position may have been removed for their age.
ALTER TABLE seller ADD COLUMN pruned_to INTEGER NOT NULL DEFAULT 0 CHECK (pruned_to >= 0);

-- The last sequence number that was heeded, of each source of stock and product.
CREATE TABLE stock_sequence (
  seller_id  INTEGER NOT NULL REFERENCES seller (id),
  product_id INTEGER NOT NULL CHECK (product_id > 0),
  source     TEXT    NOT NULL CHECK (length(source) BETWEEN 1 AND 64),
  sequence   INTEGER NOT NULL CHECK (sequence >= 0),
  PRIMARY KEY (seller_id, product_id, source)
) STRICT, WITHOUT ROWID;
