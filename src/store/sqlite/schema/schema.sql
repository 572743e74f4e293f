-- The SQLite schema. seller_id leads the primary key of every table whose rows belong to a seller,
-- except account_email and invitation, which are read before the seller is known. Times are
-- milliseconds since 1970 in UTC, and prices are minor units, such as cents. Constraints repeat the
-- limits of src/LIMITS.md, so that no bug can store a value that exceeds them. Tables come after
-- those that they reference: a move copies them in this order.

-- A shop: its currency, and the counters that give positions and ids.
CREATE TABLE seller (
  id                INTEGER PRIMARY KEY CHECK (id > 0),
  name              TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  currency          TEXT    NOT NULL CHECK (length(currency) = 3),
  currency_decimals INTEGER NOT NULL CHECK (currency_decimals BETWEEN 0 AND 3),
  -- Of the last change of its catalogue. Every change takes the next one, without gaps.
  position          INTEGER NOT NULL DEFAULT 0 CHECK (position >= 0),
  -- The highest product id given, so that none is given twice, even if the clock steps back.
  last_product_id   INTEGER NOT NULL DEFAULT 0 CHECK (last_product_id >= 0),
  created_at        INTEGER NOT NULL CHECK (created_at >= 0),
  -- Changes up to this position may have been pruned.
  pruned_to         INTEGER NOT NULL DEFAULT 0 CHECK (pruned_to >= 0),
  -- NULL unless it is disabled: its data is kept, and its keys and accounts are rejected.
  disabled_at       INTEGER CHECK (disabled_at >= 0),
  -- Products with this stock or less are low, unless they have a threshold of their own.
  low_stock         INTEGER NOT NULL DEFAULT 5 CHECK (low_stock BETWEEN 0 AND 1000000000),
  -- The highest account id given, so that none is given twice.
  last_account_id   INTEGER NOT NULL DEFAULT 0 CHECK (last_account_id >= 0)
) STRICT;

-- The keys of the API, as hashes of their secrets.
CREATE TABLE api_key (
  seller_id         INTEGER NOT NULL REFERENCES seller (id),
  id                INTEGER NOT NULL CHECK (id > 0),
  -- SHA-256 of the secret, in hexadecimal digits.
  hash              TEXT    NOT NULL UNIQUE CHECK (length(hash) = 64),
  name              TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  -- Separated by spaces.
  scopes            TEXT    NOT NULL CHECK (length(scopes) > 0),
  -- From which the key may be used, in CIDR notation, separated by spaces; empty for any address.
  address_ranges    TEXT    NOT NULL,
  created_at        INTEGER NOT NULL CHECK (created_at >= 0),
  -- The validity that was chosen for the key, which a rotation gives to its successor.
  life_ms           INTEGER CHECK (life_ms >= 0),
  expires_at        INTEGER CHECK (expires_at >= 0),
  revoked_at        INTEGER CHECK (revoked_at >= 0),
  last_used_at      INTEGER CHECK (last_used_at >= 0),
  last_used_address TEXT,
  -- The end of the secret, by which people recognize the key.
  last_four         TEXT    NOT NULL CHECK (length(last_four) = 4),
  -- The key that replaced it in a rotation.
  successor_id      INTEGER CHECK (successor_id > 0),
  -- The name of the account that created it; NULL for the command line and for programs that embed
  -- the server.
  created_by        TEXT CHECK (length(created_by) BETWEEN 1 AND 100),
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;

-- How often each key was used in each hour of UTC of the last days.
CREATE TABLE key_usage (
  seller_id INTEGER NOT NULL REFERENCES seller (id),
  -- Hours since 1970. Precedes key_id in the primary key, because reads and pruning are by hour.
  hour      INTEGER NOT NULL CHECK (hour >= 0),
  key_id    INTEGER NOT NULL CHECK (key_id > 0),
  requests  INTEGER NOT NULL CHECK (requests >= 0),
  refusals  INTEGER NOT NULL CHECK (refusals BETWEEN 0 AND requests),
  PRIMARY KEY (seller_id, hour, key_id)
) STRICT, WITHOUT ROWID;

-- The catalogue as it is now.
CREATE TABLE product (
  seller_id         INTEGER NOT NULL REFERENCES seller (id),
  id                INTEGER NOT NULL CHECK (id > 0),
  sku               TEXT    NOT NULL CHECK (length(sku) BETWEEN 1 AND 64),
  name              TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  category          TEXT    NOT NULL CHECK (length(category) BETWEEN 1 AND 100),
  price_minor       INTEGER NOT NULL CHECK (price_minor BETWEEN 0 AND 999999999999999),
  stock             INTEGER NOT NULL CHECK (stock BETWEEN 0 AND 1000000000),
  -- Of the product's last change.
  position          INTEGER NOT NULL CHECK (position > 0),
  created_at        INTEGER NOT NULL CHECK (created_at >= 0),
  updated_at        INTEGER NOT NULL CHECK (updated_at >= 0),
  -- Of its newest change that has the product's JSON, which is kept as long as the product.
  snapshot_position INTEGER NOT NULL CHECK (snapshot_position > 0),
  -- A GTIN: digits.
  barcode           TEXT CHECK (length(barcode) BETWEEN 8 AND 14),
  description       TEXT CHECK (length(description) BETWEEN 1 AND 5000),
  -- Up to 20 pairs of texts, as a JSON object with sorted names.
  metadata          TEXT CHECK (length(metadata) BETWEEN 2 AND 22000),
  -- Stock up to which the product is low; NULL for the threshold of its seller.
  low_stock         INTEGER CHECK (low_stock BETWEEN 0 AND 1000000000),
  -- Whether lists leave the product out.
  archived          INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX product_sku ON product (seller_id, sku);
CREATE INDEX product_archived ON product (seller_id, archived, id);

-- The history of the catalogue: one row per position.
CREATE TABLE change (
  seller_id    INTEGER NOT NULL REFERENCES seller (id),
  position     INTEGER NOT NULL CHECK (position > 0),
  -- Written as comparisons: for a list as long as this, SQLite fills a temporary index in every
  -- statement that inserts changes, which takes a third of the time of a stock movement.
  type         TEXT    NOT NULL CHECK (
    type = 'stock' OR type = 'created' OR type = 'updated' OR type = 'deleted'),
  product_id   INTEGER NOT NULL CHECK (product_id > 0),
  -- 1 for the portal, 2 for programs that embed the server: no key has these ids.
  key_id       INTEGER NOT NULL CHECK (key_id > 0),
  at           INTEGER NOT NULL CHECK (at >= 0),
  stock_before INTEGER NOT NULL CHECK (stock_before BETWEEN 0 AND 1000000000),
  stock_after  INTEGER NOT NULL CHECK (stock_after BETWEEN 0 AND 1000000000),
  -- The product's JSON after the change, or before it if the product was deleted; NULL if only the
  -- stock changed.
  product      TEXT CHECK (product IS NOT NULL OR type = 'stock'),
  -- After the change; the last one of a deleted product. `product` checks its length: counting the
  -- characters here would slow down what is written most often.
  sku          TEXT    NOT NULL,
  -- Position of the previous change of the same product; NULL for its first. The history of one
  -- product is read along these, without an index.
  prior        INTEGER CHECK (prior > 0 AND prior < position),
  reason       TEXT CHECK (length(reason) BETWEEN 1 AND 200),
  -- The system that counted the stock, and the number that it gave to the count.
  source       TEXT CHECK (length(source) BETWEEN 1 AND 64),
  sequence     INTEGER CHECK (sequence >= 0),
  -- Who made a change without a key: an account, or a name that an embedding program gives.
  actor        TEXT CHECK (length(actor) BETWEEN 1 AND 100),
  -- NULL for changes that are not part of an import.
  import_id    INTEGER CHECK (import_id > 0),
  PRIMARY KEY (seller_id, position)
) STRICT, WITHOUT ROWID;

-- For finding products that no longer exist.
CREATE INDEX change_deleted ON change (seller_id, product_id) WHERE type = 'deleted';
CREATE INDEX change_deleted_sku ON change (seller_id, sku) WHERE type = 'deleted';

-- The position of a time: the last change of each minute that has one.
CREATE TABLE change_minute (
  seller_id INTEGER NOT NULL REFERENCES seller (id),
  -- Minutes since 1970.
  minute    INTEGER NOT NULL CHECK (minute >= 0),
  position  INTEGER NOT NULL CHECK (position > 0),
  PRIMARY KEY (seller_id, minute)
) STRICT, WITHOUT ROWID;

-- The last sequence number that each source of stock used for each product.
CREATE TABLE stock_sequence (
  seller_id  INTEGER NOT NULL REFERENCES seller (id),
  product_id INTEGER NOT NULL CHECK (product_id > 0),
  source     TEXT    NOT NULL CHECK (length(source) BETWEEN 1 AND 64),
  sequence   INTEGER NOT NULL CHECK (sequence >= 0),
  PRIMARY KEY (seller_id, product_id, source)
) STRICT, WITHOUT ROWID;

-- Units of stock that came in and went out on each day of UTC. A sum stops at 2^53 - 1.
CREATE TABLE stock_day (
  seller_id INTEGER NOT NULL REFERENCES seller (id),
  -- Days since 1970.
  day       INTEGER NOT NULL CHECK (day >= 0),
  units_in  INTEGER NOT NULL CHECK (units_in BETWEEN 0 AND 9007199254740991),
  units_out INTEGER NOT NULL CHECK (units_out BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (seller_id, day)
) STRICT, WITHOUT ROWID;

-- Imports, stock syncs, stocktakes and reverts, each with the positions of its changes.
CREATE TABLE import (
  seller_id      INTEGER NOT NULL REFERENCES seller (id),
  id             INTEGER NOT NULL CHECK (id > 0),
  kind           TEXT    NOT NULL,
  key_id         INTEGER NOT NULL CHECK (key_id > 0),
  actor          TEXT CHECK (length(actor) BETWEEN 1 AND 100),
  address        TEXT,
  file_name      TEXT CHECK (length(file_name) BETWEEN 1 AND 255),
  mode           TEXT,
  source         TEXT CHECK (length(source) BETWEEN 1 AND 64),
  -- What a revert reverts, as JSON; NULL for all other kinds.
  reverts        TEXT CHECK ((reverts IS NOT NULL) = (kind = 'revert')),
  started_at     INTEGER NOT NULL CHECK (started_at >= 0),
  -- NULL while it runs, and if it was interrupted.
  finished_at    INTEGER CHECK (finished_at >= 0),
  -- The number of rows with each outcome, as JSON.
  counts         TEXT    NOT NULL,
  -- NULL if it changed nothing.
  first_position INTEGER CHECK (first_position > 0),
  last_position  INTEGER CHECK (last_position >= first_position),
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;

-- Responses to requests with an Idempotency-Key, for retries. Each commits with its change, and is
-- pruned when no retry can come any more.
CREATE TABLE idempotency (
  seller_id   INTEGER NOT NULL REFERENCES seller (id),
  -- SHA-256 of the decimal seller_id, a colon and the key: a client may send a secret as its key.
  key_hash    BLOB    NOT NULL CHECK (length(key_hash) = 32),
  -- Which of the request's transactions, from 0: an import has several.
  part        INTEGER NOT NULL CHECK (part >= 0),
  -- SHA-256 of the request.
  fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
  at          INTEGER NOT NULL CHECK (at >= 0),
  -- The result, as JSON.
  outcome     TEXT    NOT NULL,
  PRIMARY KEY (seller_id, key_hash, part)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_age ON idempotency (seller_id, at);

-- People who sign in to the portal. Passwords, sessions and codes are stored as hashes.
CREATE TABLE account (
  seller_id       INTEGER NOT NULL REFERENCES seller (id),
  -- From 1 for each seller.
  id              INTEGER NOT NULL CHECK (id > 0),
  -- The actor of the account's changes: no other account of the seller has it.
  name            TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  role            TEXT    NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
  -- In lower case.
  email           TEXT    NOT NULL UNIQUE CHECK (length(email) BETWEEN 3 AND 254),
  -- A PHC string: the hash with its parameters and salt.
  password        TEXT    NOT NULL CHECK (length(password) BETWEEN 1 AND 255),
  -- Of one-time passwords, encrypted with a key that is not in this file.
  totp_secret     BLOB CHECK (length(totp_secret) BETWEEN 29 AND 256),
  -- The last time step whose one-time password was accepted: none is accepted twice.
  totp_step       INTEGER NOT NULL DEFAULT 0 CHECK (totp_step >= 0),
  locale          TEXT    NOT NULL CHECK (length(locale) BETWEEN 2 AND 35),
  time_zone       TEXT    NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 64),
  created_at      INTEGER NOT NULL CHECK (created_at >= 0),
  -- Of the last sign-in or page, exact to a minute.
  seen_at         INTEGER NOT NULL CHECK (seen_at >= 0),
  -- Whether it signs in with passkeys only.
  is_password_off INTEGER NOT NULL DEFAULT 0 CHECK (is_password_off IN (0, 1)),
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;

-- The account of each e-mail address: at sign-in nothing else is known.
CREATE TABLE account_email (
  -- As in account.
  email      TEXT    PRIMARY KEY CHECK (length(email) BETWEEN 3 AND 254),
  seller_id  INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  UNIQUE (seller_id, account_id),
  FOREIGN KEY (seller_id, account_id) REFERENCES account (seller_id, id)
) STRICT, WITHOUT ROWID;

-- Codes that replace the device of one-time passwords for one sign-in, and are then removed.
CREATE TABLE recovery_code (
  seller_id  INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  hash       TEXT    NOT NULL CHECK (length(hash) = 64),
  PRIMARY KEY (seller_id, account_id, hash),
  FOREIGN KEY (seller_id, account_id) REFERENCES account (seller_id, id)
) STRICT, WITHOUT ROWID;

-- Credentials of authenticators that sign in to an account, with its password or instead of it.
CREATE TABLE passkey (
  seller_id     INTEGER NOT NULL,
  account_id    INTEGER NOT NULL,
  id            INTEGER NOT NULL CHECK (id > 0),
  -- The authenticator's. A response names its account, so it need not be unique beyond the seller.
  credential_id BLOB    NOT NULL CHECK (length(credential_id) BETWEEN 1 AND 1023),
  -- A COSE_Key, which includes its algorithm.
  public_key    BLOB    NOT NULL CHECK (length(public_key) BETWEEN 1 AND 1024),
  -- The host name that it is for.
  rp_id         TEXT    NOT NULL CHECK (length(rp_id) BETWEEN 1 AND 253),
  -- 0 if the authenticator does not count.
  sign_count    INTEGER NOT NULL CHECK (sign_count BETWEEN 0 AND 4294967295),
  name          TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  -- How browsers reach the authenticator, separated by spaces.
  transports    TEXT    NOT NULL CHECK (length(transports) <= 100),
  created_at    INTEGER NOT NULL CHECK (created_at >= 0),
  last_used_at  INTEGER CHECK (last_used_at >= 0),
  PRIMARY KEY (seller_id, account_id, id),
  UNIQUE (seller_id, credential_id),
  FOREIGN KEY (seller_id, account_id) REFERENCES account (seller_id, id)
) STRICT, WITHOUT ROWID;

-- Browsers that are signed in.
CREATE TABLE session (
  seller_id  INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  id         INTEGER NOT NULL CHECK (id > 0),
  hash       TEXT    NOT NULL UNIQUE CHECK (length(hash) = 64),
  created_at INTEGER NOT NULL CHECK (created_at >= 0),
  -- Exact to a minute.
  seen_at    INTEGER NOT NULL CHECK (seen_at >= 0),
  address    TEXT    NOT NULL CHECK (length(address) <= 100),
  user_agent TEXT    NOT NULL CHECK (length(user_agent) <= 200),
  PRIMARY KEY (seller_id, account_id, id),
  FOREIGN KEY (seller_id, account_id) REFERENCES account (seller_id, id)
) STRICT, WITHOUT ROWID;

-- Codes that create an account, once each.
CREATE TABLE invitation (
  hash       TEXT    PRIMARY KEY CHECK (length(hash) = 64),
  -- NULL for a code that also creates the seller.
  seller_id  INTEGER REFERENCES seller (id),
  role       TEXT    NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
  -- NULL to take it from the e-mail address.
  name       TEXT CHECK (length(name) BETWEEN 1 AND 100),
  -- Whether it is valid only while there is no seller.
  is_first   INTEGER NOT NULL CHECK (is_first IN (0, 1)),
  expires_at INTEGER NOT NULL CHECK (expires_at >= 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX invitation_seller ON invitation (seller_id);
CREATE INDEX invitation_expiry ON invitation (expires_at);

-- The columns that a seller has chosen for files with the same column names.
CREATE TABLE column_mapping (
  seller_id   INTEGER NOT NULL REFERENCES seller (id),
  -- SHA-256 of the column names, in hexadecimal digits.
  header_hash TEXT    NOT NULL CHECK (length(header_hash) = 64),
  -- The column of each member, as a JSON object.
  columns     TEXT    NOT NULL CHECK (length(columns) BETWEEN 2 AND 8192),
  used_at     INTEGER NOT NULL CHECK (used_at >= 0),
  PRIMARY KEY (seller_id, header_hash)
) STRICT, WITHOUT ROWID;

-- For removing the least recently used.
CREATE INDEX column_mapping_used ON column_mapping (seller_id, used_at, header_hash);

-- Filters of the portal's lists, saved for all accounts of a seller.
CREATE TABLE saved_filter (
  seller_id INTEGER NOT NULL REFERENCES seller (id),
  list      TEXT    NOT NULL CHECK (list = 'products' OR list = 'changes'),
  name      TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  -- The query of the page's URL.
  query     TEXT    NOT NULL CHECK (length(query) BETWEEN 1 AND 200),
  PRIMARY KEY (seller_id, list, name)
) STRICT, WITHOUT ROWID;

-- The audit log: what happened to sellers, accounts, keys and webhooks. Each seller has a chain of
-- events, and 0 is the chain of those that belong to no seller.
CREATE TABLE audit_event (
  seller_id INTEGER NOT NULL CHECK (seller_id >= 0),
  n         INTEGER NOT NULL CHECK (n > 0),
  at        INTEGER NOT NULL CHECK (at >= 0),
  type      TEXT    NOT NULL CHECK (length(type) BETWEEN 1 AND 64),
  -- The client's; empty for the command line and for programs that embed the server.
  address   TEXT    NOT NULL CHECK (length(address) <= 100),
  -- What the event is about, such as the id of a key, for people to read.
  subject   TEXT    NOT NULL CHECK (length(subject) <= 300),
  -- SHA-256 of the previous hash of the chain and of this event: reveals a change in the middle.
  hash      BLOB    NOT NULL CHECK (length(hash) = 32),
  -- The name of an account or of a key; NULL for the command line and for programs that embed the
  -- server.
  actor     TEXT CHECK (length(actor) BETWEEN 1 AND 100),
  PRIMARY KEY (seller_id, n)
) STRICT;

CREATE INDEX audit_event_type ON audit_event (seller_id, type, n);

-- Authenticates the chains of the audit log with a key that is not in this file. A segment is a run
-- of events that were added with one key; only the newest one of a chain grows.
CREATE TABLE audit_segment (
  seller_id INTEGER NOT NULL CHECK (seller_id >= 0),
  id        INTEGER NOT NULL CHECK (id > 0),
  first     INTEGER NOT NULL CHECK (first > 0),
  -- Its newest event; the one before `first` while it has none.
  last      INTEGER NOT NULL CHECK (last >= first - 1),
  -- Why it began: with its chain, with another key, or because the events did not match the code of
  -- the previous segment.
  origin    TEXT    NOT NULL CHECK (origin IN ('start', 'key', 'mismatch')),
  -- Identifies the key, and reveals nothing of it.
  key_id    BLOB    NOT NULL CHECK (length(key_id) = 16),
  -- HMAC-SHA-256 over this row and the hash of the event `last`.
  mac       BLOB    NOT NULL CHECK (length(mac) = 32),
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;

-- Webhooks, each a durable cursor over the history of its seller.
CREATE TABLE webhook (
  seller_id          INTEGER NOT NULL REFERENCES seller (id),
  id                 INTEGER NOT NULL CHECK (id > 0),
  url                TEXT    NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
  description        TEXT    NOT NULL CHECK (length(description) <= 200),
  -- The types of changes that are sent, separated by spaces; NULL for all.
  types              TEXT CHECK (length(types) > 0),
  -- Up to 100 changes in a message, or one.
  delivery           TEXT    NOT NULL DEFAULT 'batch' CHECK (delivery IN ('batch', 'single')),
  status             TEXT    NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
  disabled_reason    TEXT CHECK ((disabled_reason IS NULL) = (status = 'active')),
  -- All changes up to this one are delivered, or were skipped.
  position           INTEGER NOT NULL CHECK (position >= 0),
  -- Signs messages; encrypted with a key that is not in this file.
  secret             BLOB    NOT NULL CHECK (length(secret) BETWEEN 29 AND 256),
  -- The previous secret, which signs as well until it ends.
  old_secret         BLOB CHECK (length(old_secret) BETWEEN 29 AND 256),
  old_secret_ends_at INTEGER CHECK ((old_secret_ends_at IS NULL) = (old_secret IS NULL)),
  -- The message in delivery: its id and changes stay the same in every attempt.
  message_id         TEXT CHECK (length(message_id) BETWEEN 1 AND 64),
  message_first      INTEGER CHECK (message_first > 0),
  message_last       INTEGER CHECK (message_last >= message_first),
  message_at         INTEGER CHECK (message_at >= 0),
  -- The event of a message with one change, and the shop's low-stock threshold if it depends on it.
  message_event      TEXT CHECK (length(message_event) BETWEEN 1 AND 20),
  message_low_stock  INTEGER CHECK (message_low_stock >= 0),
  -- Failed attempts since the last successful one.
  failures           INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  failing_since      INTEGER CHECK ((failing_since IS NULL) = (failures = 0)),
  next_attempt_at    INTEGER NOT NULL CHECK (next_attempt_at >= 0),
  created_at         INTEGER NOT NULL CHECK (created_at >= 0),
  updated_at         INTEGER NOT NULL CHECK (updated_at >= 0),
  -- The name of the account, the key or the embedding program's actor that created it; NULL for a
  -- program that names none.
  created_by         TEXT CHECK (length(created_by) BETWEEN 1 AND 100),
  PRIMARY KEY (seller_id, id),
  CHECK ((message_id IS NULL) = (message_first IS NULL)),
  CHECK ((message_id IS NULL) = (message_last IS NULL)),
  CHECK ((message_id IS NULL) = (message_at IS NULL))
) STRICT, WITHOUT ROWID;

-- Failing webhooks apart from the others, each group in the order of the next attempts.
CREATE INDEX webhook_due ON webhook (failures > 0, next_attempt_at) WHERE status = 'active';

-- The newest delivery attempts of each webhook.
CREATE TABLE webhook_attempt (
  seller_id      INTEGER NOT NULL,
  webhook_id     INTEGER NOT NULL,
  n              INTEGER NOT NULL CHECK (n > 0),
  message_id     TEXT    NOT NULL CHECK (length(message_id) BETWEEN 1 AND 64),
  kind           TEXT    NOT NULL CHECK (kind IN ('changes', 'test')),
  first_position INTEGER CHECK ((first_position IS NULL) = (kind = 'test')),
  last_position  INTEGER CHECK ((last_position IS NULL) = (kind = 'test')),
  at             INTEGER NOT NULL CHECK (at >= 0),
  duration_ms    INTEGER NOT NULL CHECK (duration_ms >= 0),
  -- Of the response; NULL if there was none.
  status         INTEGER CHECK (status BETWEEN 100 AND 999),
  outcome        TEXT    NOT NULL CHECK (length(outcome) BETWEEN 1 AND 200),
  -- The request and the response, shortened, and what the message consists of, as JSON. NULL once
  -- the changes of the message are removed from the history.
  detail         TEXT CHECK (length(detail) BETWEEN 2 AND 65536),
  PRIMARY KEY (seller_id, webhook_id, n),
  FOREIGN KEY (seller_id, webhook_id) REFERENCES webhook (seller_id, id)
) STRICT, WITHOUT ROWID;

-- Secrets of the server itself, created with the database.
CREATE TABLE server_secret (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL CHECK (length(value) = 32)
) STRICT, WITHOUT ROWID;
