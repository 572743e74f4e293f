-- The PostgreSQL schema. Tables and columns have the names and meanings that they have in SQLite,
-- where ../../sqlite/schema/schema.sql describes them; comments on columns here say what differs.
-- On Citus, tables are distributed by seller_id, which leads their primary keys (seller by its id),
-- unless a comment says otherwise; global tables are on every node. Times are milliseconds since
-- 1970 in UTC.

-- A shop: its currency, and the counters that give positions and ids.
CREATE TABLE seller (
  id                bigint PRIMARY KEY CHECK (id > 0),
  name              text   NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  currency          text   NOT NULL CHECK (length(currency) = 3),
  currency_decimals bigint NOT NULL CHECK (currency_decimals BETWEEN 0 AND 3),
  -- NULL fails a transaction whose compare-and-set of the position fails.
  position          bigint NOT NULL DEFAULT 0 CHECK (position >= 0),
  -- Time of its last change, which the next one may not precede.
  last_at           bigint NOT NULL DEFAULT 0 CHECK (last_at >= 0),
  last_product_id   bigint NOT NULL DEFAULT 0 CHECK (last_product_id >= 0),
  pruned_to         bigint NOT NULL DEFAULT 0 CHECK (pruned_to >= 0),
  created_at        bigint NOT NULL CHECK (created_at >= 0),
  disabled_at       bigint CHECK (disabled_at >= 0),
  -- Counts the changes of its webhooks, so that the node that delivers them notices.
  webhook_version   bigint NOT NULL DEFAULT 0 CHECK (webhook_version >= 0),
  low_stock         bigint NOT NULL DEFAULT 5 CHECK (low_stock BETWEEN 0 AND 1000000000),
  last_account_id   bigint NOT NULL DEFAULT 0 CHECK (last_account_id >= 0)
);

-- The keys of the API, as hashes of their secrets.
CREATE TABLE api_key (
  seller_id         bigint NOT NULL,
  id                bigint NOT NULL CHECK (id > 0),
  hash              text   NOT NULL CHECK (length(hash) = 64),
  name              text   NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  scopes            text   NOT NULL CHECK (length(scopes) > 0),
  address_ranges    text   NOT NULL,
  created_at        bigint NOT NULL CHECK (created_at >= 0),
  life_ms           bigint CHECK (life_ms >= 0),
  expires_at        bigint CHECK (expires_at >= 0),
  revoked_at        bigint CHECK (revoked_at >= 0),
  last_used_at      bigint CHECK (last_used_at >= 0),
  last_used_address text,
  last_four         text   NOT NULL CHECK (length(last_four) = 4),
  successor_id      bigint CHECK (successor_id > 0),
  created_by        text CHECK (length(created_by) BETWEEN 1 AND 100),
  PRIMARY KEY (seller_id, id),
  UNIQUE (seller_id, hash)
);

-- The seller of each key, because a request has only the key's secret. Rows never change.
-- Distributed by hash.
CREATE TABLE key_owner (hash text PRIMARY KEY CHECK (length(hash) = 64), seller_id bigint NOT NULL);

-- How often each key was used in each hour of UTC of the last days.
CREATE TABLE key_usage (
  seller_id bigint NOT NULL,
  hour      bigint NOT NULL CHECK (hour >= 0),
  key_id    bigint NOT NULL CHECK (key_id > 0),
  requests  bigint NOT NULL CHECK (requests >= 0),
  refusals  bigint NOT NULL CHECK (refusals BETWEEN 0 AND requests),
  PRIMARY KEY (seller_id, hour, key_id)
);

-- The catalogue as it is now.
CREATE TABLE product (
  seller_id         bigint NOT NULL,
  id                bigint NOT NULL CHECK (id > 0),
  sku               text   NOT NULL COLLATE "C" CHECK (length(sku) BETWEEN 1 AND 64),
  name              text   NOT NULL COLLATE "C" CHECK (length(name) BETWEEN 1 AND 200),
  category          text   NOT NULL COLLATE "C" CHECK (length(category) BETWEEN 1 AND 100),
  price_minor       bigint NOT NULL CHECK (price_minor BETWEEN 0 AND 999999999999999),
  stock             bigint NOT NULL CHECK (stock BETWEEN 0 AND 1000000000),
  position          bigint NOT NULL CHECK (position > 0),
  created_at        bigint NOT NULL CHECK (created_at >= 0),
  updated_at        bigint NOT NULL CHECK (updated_at >= 0),
  snapshot_position bigint NOT NULL CHECK (snapshot_position > 0),
  barcode           text   COLLATE "C" CHECK (length(barcode) BETWEEN 8 AND 14),
  description       text   CHECK (length(description) BETWEEN 1 AND 5000),
  metadata          text   CHECK (length(metadata) BETWEEN 2 AND 22000),
  low_stock         bigint CHECK (low_stock BETWEEN 0 AND 1000000000),
  archived          bigint NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  -- For sorting, and the lines that are searched, without case and accents (searchTextsOf).
  name_key          text   NOT NULL COLLATE "C",
  search_text       text   NOT NULL COLLATE "C",
  PRIMARY KEY (seller_id, id),
  -- Checked after each statement, not after each row: one may pass SKUs between products.
  UNIQUE (seller_id, sku) DEFERRABLE
)
-- Room for new versions of a row beside the old ones.
WITH (fillfactor = 85);

-- Columns that stock changes alter have no index, so that they write no index entries.
CREATE INDEX product_archived ON product (seller_id, archived, id);
CREATE INDEX product_barcode ON product (seller_id, barcode) WHERE barcode IS NOT NULL;
CREATE INDEX product_name ON product (seller_id, name_key, id);
CREATE INDEX product_category ON product (seller_id, category, id);
CREATE INDEX product_price ON product (seller_id, price_minor, id);

-- The history of the catalogue: one row per position.
CREATE TABLE change (
  seller_id    bigint NOT NULL,
  position     bigint NOT NULL CHECK (position > 0),
  type         text   NOT NULL CHECK (type IN ('created', 'updated', 'deleted', 'stock')),
  product_id   bigint NOT NULL CHECK (product_id > 0),
  key_id       bigint NOT NULL CHECK (key_id > 0),
  at           bigint NOT NULL CHECK (at >= 0),
  stock_before bigint NOT NULL CHECK (stock_before BETWEEN 0 AND 1000000000),
  stock_after  bigint NOT NULL CHECK (stock_after BETWEEN 0 AND 1000000000),
  product      text CHECK (product IS NOT NULL OR type = 'stock'),
  sku          text   NOT NULL COLLATE "C",
  prior        bigint CHECK (prior > 0 AND prior < position),
  reason       text CHECK (length(reason) BETWEEN 1 AND 200),
  source       text CHECK (length(source) BETWEEN 1 AND 64),
  sequence     bigint CHECK (sequence >= 0),
  actor        text CHECK (length(actor) BETWEEN 1 AND 100),
  import_id    bigint CHECK (import_id > 0),
  -- A random number for each transaction, by which it is found if its COMMIT got no response.
  batch        bigint NOT NULL,
  PRIMARY KEY (seller_id, position)
);

CREATE INDEX change_deleted ON change (seller_id, product_id) WHERE type = 'deleted';
CREATE INDEX change_deleted_sku ON change (seller_id, sku) WHERE type = 'deleted';

-- The position of a time: the last change of each minute that has one.
CREATE TABLE change_minute (
  seller_id bigint NOT NULL,
  minute    bigint NOT NULL CHECK (minute >= 0),
  position  bigint NOT NULL CHECK (position > 0),
  PRIMARY KEY (seller_id, minute)
);

-- The last sequence number that each source of stock used for each product.
CREATE TABLE stock_sequence (
  seller_id  bigint NOT NULL,
  product_id bigint NOT NULL CHECK (product_id > 0),
  source     text   NOT NULL CHECK (length(source) BETWEEN 1 AND 64),
  sequence   bigint NOT NULL CHECK (sequence >= 0),
  PRIMARY KEY (seller_id, product_id, source)
);

-- Units of stock that came in and went out on each day of UTC. A sum stops at 2^53 - 1.
CREATE TABLE stock_day (
  seller_id bigint NOT NULL,
  day       bigint NOT NULL CHECK (day >= 0),
  units_in  bigint NOT NULL CHECK (units_in BETWEEN 0 AND 9007199254740991),
  units_out bigint NOT NULL CHECK (units_out BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (seller_id, day)
);

-- Imports, stock syncs, stocktakes and reverts, each with the positions of its changes.
CREATE TABLE import (
  seller_id      bigint NOT NULL,
  id             bigint NOT NULL CHECK (id > 0),
  kind           text   NOT NULL,
  key_id         bigint NOT NULL CHECK (key_id > 0),
  actor          text CHECK (length(actor) BETWEEN 1 AND 100),
  address        text,
  file_name      text CHECK (length(file_name) BETWEEN 1 AND 255),
  mode           text,
  source         text CHECK (length(source) BETWEEN 1 AND 64),
  reverts        text CHECK ((reverts IS NOT NULL) = (kind = 'revert')),
  started_at     bigint NOT NULL CHECK (started_at >= 0),
  finished_at    bigint CHECK (finished_at >= 0),
  counts         text   NOT NULL,
  first_position bigint CHECK (first_position > 0),
  last_position  bigint CHECK (last_position >= first_position),
  PRIMARY KEY (seller_id, id)
);

-- Imports in the portal: uploads, previews, imports that run, and those of the last day.
CREATE TABLE import_job (
  seller_id    bigint NOT NULL,
  id           text   NOT NULL COLLATE "C" CHECK (length(id) = 36),
  -- Increases with each start and end of a run.
  version      bigint NOT NULL CHECK (version >= 0),
  -- As JSON; NULL until the file is received.
  content      text,
  is_running   bigint NOT NULL CHECK (is_running IN (0, 1)),
  is_cancelled bigint NOT NULL CHECK (is_cancelled IN (0, is_running)),
  size_bytes   bigint NOT NULL CHECK (size_bytes >= 0),
  created_at   bigint NOT NULL,
  -- Of the last change, or when its node was last alive.
  seen_at      bigint NOT NULL,
  PRIMARY KEY (seller_id, id)
);

-- The files of these imports, in pieces.
CREATE TABLE import_job_chunk (
  seller_id bigint NOT NULL,
  job_id    text   NOT NULL COLLATE "C",
  file      text   NOT NULL COLLATE "C" CHECK (file IN ('upload', 'rejected')),
  n         bigint NOT NULL CHECK (n >= 0),
  content   bytea  NOT NULL CHECK (length(content) > 0),
  PRIMARY KEY (seller_id, job_id, file, n),
  FOREIGN KEY (seller_id, job_id) REFERENCES import_job (seller_id, id) ON DELETE CASCADE
);

-- Responses to requests with an Idempotency-Key, for retries.
CREATE TABLE idempotency (
  seller_id   bigint NOT NULL,
  key_hash    bytea  NOT NULL CHECK (length(key_hash) = 32),
  part        bigint NOT NULL CHECK (part >= 0),
  fingerprint bytea  NOT NULL CHECK (length(fingerprint) = 32),
  at          bigint NOT NULL CHECK (at >= 0),
  outcome     text   NOT NULL,
  PRIMARY KEY (seller_id, key_hash, part)
);

CREATE INDEX idempotency_age ON idempotency (seller_id, at);

-- People who sign in to the portal. Passwords, sessions and codes are stored as hashes.
CREATE TABLE account (
  seller_id   bigint NOT NULL,
  id          bigint NOT NULL CHECK (id > 0),
  name        text   NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  role        text   NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
  email       text   NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
  password    text   NOT NULL CHECK (length(password) BETWEEN 1 AND 255),
  totp_secret bytea CHECK (length(totp_secret) BETWEEN 29 AND 256),
  totp_step   bigint NOT NULL DEFAULT 0 CHECK (totp_step >= 0),
  locale      text   NOT NULL CHECK (length(locale) BETWEEN 2 AND 35),
  time_zone   text   NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 64),
  created_at  bigint NOT NULL CHECK (created_at >= 0),
  seen_at     bigint NOT NULL CHECK (seen_at >= 0),
  is_password_off bigint NOT NULL DEFAULT 0 CHECK (is_password_off IN (0, 1)),
  PRIMARY KEY (seller_id, id)
);

-- The account of each e-mail address: at sign-in nothing else is known. Global.
CREATE TABLE account_email (
  email      text   PRIMARY KEY CHECK (length(email) BETWEEN 3 AND 254),
  seller_id  bigint NOT NULL,
  account_id bigint NOT NULL,
  UNIQUE (seller_id, account_id)
);

-- Codes that replace the device of one-time passwords for one sign-in, and are then removed.
CREATE TABLE recovery_code (
  seller_id  bigint NOT NULL,
  account_id bigint NOT NULL,
  hash       text   NOT NULL CHECK (length(hash) = 64),
  PRIMARY KEY (seller_id, account_id, hash)
);

-- Credentials of authenticators that sign in to an account, with its password or instead of it.
CREATE TABLE passkey (
  seller_id     bigint NOT NULL,
  account_id    bigint NOT NULL,
  id            bigint NOT NULL CHECK (id > 0),
  credential_id bytea  NOT NULL CHECK (length(credential_id) BETWEEN 1 AND 1023),
  public_key    bytea  NOT NULL CHECK (length(public_key) BETWEEN 1 AND 1024),
  rp_id         text   NOT NULL CHECK (length(rp_id) BETWEEN 1 AND 253),
  sign_count    bigint NOT NULL CHECK (sign_count BETWEEN 0 AND 4294967295),
  name          text   NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  transports    text   NOT NULL CHECK (length(transports) <= 100),
  created_at    bigint NOT NULL CHECK (created_at >= 0),
  last_used_at  bigint CHECK (last_used_at >= 0),
  PRIMARY KEY (seller_id, account_id, id),
  UNIQUE (seller_id, credential_id)
);

-- Browsers that are signed in.
CREATE TABLE session (
  seller_id  bigint NOT NULL,
  account_id bigint NOT NULL,
  id         bigint NOT NULL CHECK (id > 0),
  hash       text   NOT NULL CHECK (length(hash) = 64),
  created_at bigint NOT NULL CHECK (created_at >= 0),
  seen_at    bigint NOT NULL CHECK (seen_at >= 0),
  address    text   NOT NULL CHECK (length(address) <= 100),
  user_agent text   NOT NULL CHECK (length(user_agent) <= 200),
  PRIMARY KEY (seller_id, account_id, id),
  UNIQUE (seller_id, hash)
);

-- Codes that create an account, once each. Global.
CREATE TABLE invitation (
  hash       text   PRIMARY KEY CHECK (length(hash) = 64),
  seller_id  bigint,
  role       text   NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
  name       text CHECK (length(name) BETWEEN 1 AND 100),
  is_first   bigint NOT NULL CHECK (is_first IN (0, 1)),
  expires_at bigint NOT NULL CHECK (expires_at >= 0)
);

CREATE INDEX invitation_seller ON invitation (seller_id);
CREATE INDEX invitation_expiry ON invitation (expires_at);

-- The columns that a seller has chosen for files with the same column names.
CREATE TABLE column_mapping (
  seller_id   bigint NOT NULL,
  header_hash text   NOT NULL COLLATE "C" CHECK (length(header_hash) = 64),
  columns     text   NOT NULL CHECK (length(columns) BETWEEN 2 AND 8192),
  used_at     bigint NOT NULL CHECK (used_at >= 0),
  PRIMARY KEY (seller_id, header_hash)
);

CREATE INDEX column_mapping_used ON column_mapping (seller_id, used_at, header_hash);

-- Filters of the portal's lists, saved for all accounts of a seller.
CREATE TABLE saved_filter (
  seller_id bigint NOT NULL,
  list      text   NOT NULL CHECK (list = 'products' OR list = 'changes'),
  name      text   NOT NULL COLLATE "C" CHECK (length(name) BETWEEN 1 AND 60),
  query     text   NOT NULL CHECK (length(query) BETWEEN 1 AND 200),
  PRIMARY KEY (seller_id, list, name)
);

-- The audit log: what happened to sellers, accounts, keys and webhooks, a chain for each seller.
CREATE TABLE audit_event (
  seller_id bigint NOT NULL CHECK (seller_id >= 0),
  n         bigint NOT NULL CHECK (n > 0),
  at        bigint NOT NULL CHECK (at >= 0),
  type      text   NOT NULL CHECK (length(type) BETWEEN 1 AND 64),
  address   text   NOT NULL CHECK (length(address) <= 100),
  subject   text   NOT NULL CHECK (length(subject) <= 300),
  hash      bytea  NOT NULL CHECK (length(hash) = 32),
  actor     text CHECK (length(actor) BETWEEN 1 AND 100),
  PRIMARY KEY (seller_id, n)
);

CREATE INDEX audit_event_type ON audit_event (seller_id, type, n);

-- Authenticates the chains of the audit log with a key that is not in this database.
CREATE TABLE audit_segment (
  seller_id bigint NOT NULL CHECK (seller_id >= 0),
  id        bigint NOT NULL CHECK (id > 0),
  first     bigint NOT NULL CHECK (first > 0),
  last      bigint NOT NULL CHECK (last >= first - 1),
  origin    text   NOT NULL CHECK (origin IN ('start', 'key', 'mismatch')),
  key_id    bytea  NOT NULL CHECK (length(key_id) = 16),
  mac       bytea  NOT NULL CHECK (length(mac) = 32),
  PRIMARY KEY (seller_id, id)
);

-- Webhooks, each a durable cursor over the history of its seller.
CREATE TABLE webhook (
  seller_id          bigint NOT NULL,
  id                 bigint NOT NULL CHECK (id > 0),
  url                text   NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
  description        text   NOT NULL CHECK (length(description) <= 200),
  types              text CHECK (length(types) > 0),
  delivery           text   NOT NULL DEFAULT 'batch' CHECK (delivery IN ('batch', 'single')),
  status             text   NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
  disabled_reason    text CHECK ((disabled_reason IS NULL) = (status = 'active')),
  position           bigint NOT NULL CHECK (position >= 0),
  secret             bytea  NOT NULL CHECK (length(secret) BETWEEN 29 AND 256),
  old_secret         bytea CHECK (length(old_secret) BETWEEN 29 AND 256),
  old_secret_ends_at bigint CHECK ((old_secret_ends_at IS NULL) = (old_secret IS NULL)),
  message_id         text CHECK (length(message_id) BETWEEN 1 AND 64),
  message_first      bigint CHECK (message_first > 0),
  message_last       bigint CHECK (message_last >= message_first),
  message_at         bigint CHECK (message_at >= 0),
  message_event      text CHECK (length(message_event) BETWEEN 1 AND 20),
  message_low_stock  bigint CHECK (message_low_stock >= 0),
  failures           bigint NOT NULL DEFAULT 0 CHECK (failures >= 0),
  failing_since      bigint CHECK ((failing_since IS NULL) = (failures = 0)),
  next_attempt_at    bigint NOT NULL CHECK (next_attempt_at >= 0),
  created_at         bigint NOT NULL CHECK (created_at >= 0),
  updated_at         bigint NOT NULL CHECK (updated_at >= 0),
  created_by         text CHECK (length(created_by) BETWEEN 1 AND 100),
  PRIMARY KEY (seller_id, id),
  CHECK (num_nulls(message_id, message_first, message_last, message_at) IN (0, 4))
);

-- The newest delivery attempts of each webhook.
CREATE TABLE webhook_attempt (
  seller_id      bigint NOT NULL,
  webhook_id     bigint NOT NULL,
  n              bigint NOT NULL CHECK (n > 0),
  message_id     text   NOT NULL CHECK (length(message_id) BETWEEN 1 AND 64),
  kind           text   NOT NULL CHECK (kind IN ('changes', 'test')),
  first_position bigint CHECK ((first_position IS NULL) = (kind = 'test')),
  last_position  bigint CHECK ((last_position IS NULL) = (kind = 'test')),
  at             bigint NOT NULL CHECK (at >= 0),
  duration_ms    bigint NOT NULL CHECK (duration_ms >= 0),
  status         bigint CHECK (status BETWEEN 100 AND 999),
  outcome        text   NOT NULL CHECK (length(outcome) BETWEEN 1 AND 200),
  detail         text CHECK (length(detail) BETWEEN 2 AND 65536),
  PRIMARY KEY (seller_id, webhook_id, n)
);

-- Facts about the database and the server's key, by name. Global.
CREATE TABLE setting (
  name  text PRIMARY KEY,
  value text NOT NULL
);

-- What nodes share follows. Its times are of the database's clock.

-- Processes that are alive, each until it stops renewing its row. Global.
CREATE TABLE node (
  id         text   PRIMARY KEY COLLATE "C",
  -- Whether it delivers webhooks, or is one of those that share rate limits.
  role       text   NOT NULL CHECK (role IN ('delivery', 'limits')),
  expires_at bigint NOT NULL
);

-- Sellers that have had a webhook, and the buckets that they are in. Global.
CREATE TABLE webhook_seller (
  seller_id bigint PRIMARY KEY,
  bucket    bigint NOT NULL CHECK (bucket BETWEEN 0 AND 63)
);

-- Which node delivers the webhooks of a bucket's sellers. Global.
CREATE TABLE webhook_lease (
  bucket     bigint PRIMARY KEY CHECK (bucket BETWEEN 0 AND 63),
  -- Of the last lease; empty if there was none.
  holder     text   NOT NULL DEFAULT '',
  -- 0 if the holder gave it up.
  expires_at bigint NOT NULL DEFAULT 0
)
WITH (fillfactor = 50);

INSERT INTO webhook_lease (bucket) SELECT generate_series(0, 63);

-- Token buckets that slow down guessing. A full one needs no row. They may be lost in a crash.
-- Distributed by the name.
CREATE UNLOGGED TABLE throttle (
  name    text             NOT NULL CHECK (length(name) = 43),
  kind    text             NOT NULL CHECK (length(kind) BETWEEN 1 AND 30),
  -- Of the last change, and when the bucket is full again.
  at      bigint           NOT NULL,
  full_at double precision NOT NULL,
  -- Tokens that the last exchange granted.
  granted bigint           NOT NULL CHECK (granted >= 0),
  PRIMARY KEY (name, kind)
)
WITH (fillfactor = 70);

-- Token buckets of requests, from which nodes lease tokens. They may be lost in a crash.
CREATE UNLOGGED TABLE rate_lease (
  seller_id bigint           NOT NULL,
  -- 0 for the bucket that all keys of the seller share.
  key_id    bigint           NOT NULL CHECK (key_id >= 0),
  at        bigint           NOT NULL,
  full_at   double precision NOT NULL,
  granted   bigint           NOT NULL CHECK (granted >= 0),
  PRIMARY KEY (seller_id, key_id)
)
WITH (fillfactor = 70);
