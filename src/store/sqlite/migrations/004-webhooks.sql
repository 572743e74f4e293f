-- Endpoints of webhooks, each a durable cursor over the history of its seller, and what came of the
-- attempts to send to them. Secrets are sealed with a key that is not in this file.

CREATE TABLE webhook (
  seller_id          INTEGER NOT NULL REFERENCES seller (id),
  id                 INTEGER NOT NULL CHECK (id > 0),
  url                TEXT    NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
  description        TEXT    NOT NULL CHECK (length(description) <= 200),
  -- The types of changes that are sent, with spaces between; NULL for all.
  types              TEXT CHECK (length(types) > 0),
  status             TEXT    NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
  disabled_reason    TEXT CHECK ((disabled_reason IS NULL) = (status = 'active')),
  -- All changes up to here have arrived, or were passed over.
  position           INTEGER NOT NULL CHECK (position >= 0),
  secret             BLOB    NOT NULL CHECK (length(secret) BETWEEN 29 AND 256),
  -- Signs too until it ends.
  old_secret         BLOB CHECK (length(old_secret) BETWEEN 29 AND 256),
  old_secret_ends_at INTEGER CHECK ((old_secret_ends_at IS NULL) = (old_secret IS NULL)),
  -- What is being sent: the same id and the same changes until they arrive.
  message_id         TEXT CHECK (length(message_id) BETWEEN 1 AND 64),
  message_first      INTEGER CHECK (message_first > 0),
  message_last       INTEGER CHECK (message_last >= message_first),
  message_at         INTEGER CHECK (message_at >= 0),
  -- Attempts that failed since the last one that did not.
  failures           INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  failing_since      INTEGER CHECK ((failing_since IS NULL) = (failures = 0)),
  next_attempt_at    INTEGER NOT NULL CHECK (next_attempt_at >= 0),
  created_at         INTEGER NOT NULL CHECK (created_at >= 0),
  updated_at         INTEGER NOT NULL CHECK (updated_at >= 0),
  PRIMARY KEY (seller_id, id),
  CHECK ((message_id IS NULL) = (message_first IS NULL)),
  CHECK ((message_id IS NULL) = (message_last IS NULL)),
  CHECK ((message_id IS NULL) = (message_at IS NULL))
) STRICT, WITHOUT ROWID;

-- Those that fail apart from the others, each in the order in which they wait.
CREATE INDEX webhook_due ON webhook (failures > 0, next_attempt_at) WHERE status = 'active';

-- The newest attempts of each endpoint.
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
  -- Of the answer; NULL where there was none.
  status         INTEGER CHECK (status BETWEEN 100 AND 999),
  outcome        TEXT    NOT NULL CHECK (length(outcome) BETWEEN 1 AND 200),
  PRIMARY KEY (seller_id, webhook_id, n),
  FOREIGN KEY (seller_id, webhook_id) REFERENCES webhook (seller_id, id)
) STRICT, WITHOUT ROWID;
