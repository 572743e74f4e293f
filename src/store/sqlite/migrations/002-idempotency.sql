-- What was answered under an Idempotency-Key, so that a repetition is answered alike. It commits
-- with the change that it tells of, and is removed by and by once it is too old to be asked for.

CREATE TABLE idempotency (
  seller_id   INTEGER NOT NULL REFERENCES seller (id),
  key         TEXT    NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  -- Changes that are made in several units, such as imports, number them from 0.
  part        INTEGER NOT NULL CHECK (part >= 0),
  -- SHA-256 of what was asked for.
  fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
  at          INTEGER NOT NULL CHECK (at >= 0),
  -- What the unit returned, as JSON.
  outcome     TEXT    NOT NULL,
  PRIMARY KEY (seller_id, key, part)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_age ON idempotency (seller_id, at);
