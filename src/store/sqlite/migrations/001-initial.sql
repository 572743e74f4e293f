-- Sellers, their keys, their products, and the history from which everything else can be told.
-- seller_id leads every primary key. Times are milliseconds since 1970, prices are minor units.

CREATE TABLE seller (
  id                INTEGER PRIMARY KEY CHECK (id > 0),
  name              TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  currency          TEXT    NOT NULL CHECK (length(currency) = 3),
  currency_decimals INTEGER NOT NULL CHECK (currency_decimals BETWEEN 0 AND 3),
  -- Position of the last change of the catalogue. Every change takes the next one, gapless.
  position          INTEGER NOT NULL DEFAULT 0 CHECK (position >= 0),
  -- The highest product id ever given, so that none is given twice, whatever the clock does.
  last_product_id   INTEGER NOT NULL DEFAULT 0 CHECK (last_product_id >= 0),
  created_at        INTEGER NOT NULL CHECK (created_at >= 0)
) STRICT;

CREATE TABLE api_key (
  seller_id         INTEGER NOT NULL REFERENCES seller (id),
  id                INTEGER NOT NULL CHECK (id > 0),
  hash              TEXT    NOT NULL UNIQUE CHECK (length(hash) = 64),
  name              TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  scopes            TEXT    NOT NULL CHECK (length(scopes) > 0),
  address_ranges    TEXT    NOT NULL,
  created_at        INTEGER NOT NULL CHECK (created_at >= 0),
  -- How long the key was made to live: what a rotation gives to the next one.
  life_ms           INTEGER CHECK (life_ms >= 0),
  expires_at        INTEGER CHECK (expires_at >= 0),
  revoked_at        INTEGER CHECK (revoked_at >= 0),
  last_used_at      INTEGER CHECK (last_used_at >= 0),
  last_used_address TEXT,
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE product (
  seller_id   INTEGER NOT NULL REFERENCES seller (id),
  id          INTEGER NOT NULL CHECK (id > 0),
  sku         TEXT    NOT NULL CHECK (length(sku) BETWEEN 1 AND 64),
  name        TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  category    TEXT    NOT NULL CHECK (length(category) BETWEEN 1 AND 100),
  price_minor INTEGER NOT NULL CHECK (price_minor BETWEEN 0 AND 999999999999999),
  stock       INTEGER NOT NULL CHECK (stock BETWEEN 0 AND 1000000000),
  -- Position of the product's last change.
  position    INTEGER NOT NULL CHECK (position > 0),
  created_at  INTEGER NOT NULL CHECK (created_at >= 0),
  updated_at  INTEGER NOT NULL CHECK (updated_at >= 0),
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX product_sku ON product (seller_id, sku);

-- The history: one row a position. `product` is the product's JSON as it was answered at that
-- position, absent where only the stock moved.
CREATE TABLE change (
  seller_id    INTEGER NOT NULL REFERENCES seller (id),
  position     INTEGER NOT NULL CHECK (position > 0),
  type         TEXT    NOT NULL CHECK (type IN ('created', 'updated', 'deleted', 'stock')),
  product_id   INTEGER NOT NULL CHECK (product_id > 0),
  key_id       INTEGER NOT NULL CHECK (key_id > 0),
  at           INTEGER NOT NULL CHECK (at >= 0),
  stock_before INTEGER NOT NULL CHECK (stock_before BETWEEN 0 AND 1000000000),
  stock_after  INTEGER NOT NULL CHECK (stock_after BETWEEN 0 AND 1000000000),
  product      TEXT CHECK (product IS NOT NULL OR type = 'stock'),
  PRIMARY KEY (seller_id, position)
) STRICT, WITHOUT ROWID;

-- Secrets of the server itself, made with the database.
CREATE TABLE server_secret (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL CHECK (length(value) = 32)
) STRICT, WITHOUT ROWID;
