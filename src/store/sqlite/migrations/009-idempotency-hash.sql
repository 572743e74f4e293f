-- Idempotency keys are kept as their SHA-256: a client may send a secret as its key. The old table
-- is dropped, so that secure_delete overwrites every page that held a key. `sha256` is a function
-- of this server, registered where migrations run.

CREATE TABLE idempotency_hashed (
  seller_id   INTEGER NOT NULL REFERENCES seller (id),
  -- SHA-256 of the decimal seller_id, a colon and the key.
  key_hash    BLOB    NOT NULL CHECK (length(key_hash) = 32),
  -- Changes that are made in several units, such as imports, number them from 0.
  part        INTEGER NOT NULL CHECK (part >= 0),
  -- SHA-256 of what was asked for.
  fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
  at          INTEGER NOT NULL CHECK (at >= 0),
  -- What the unit returned, as JSON.
  outcome     TEXT    NOT NULL,
  PRIMARY KEY (seller_id, key_hash, part)
) STRICT, WITHOUT ROWID;

INSERT INTO idempotency_hashed (seller_id, key_hash, part, fingerprint, at, outcome)
SELECT seller_id, sha256(seller_id || ':' || key), part, fingerprint, at, outcome
FROM idempotency;

DROP TABLE idempotency;
ALTER TABLE idempotency_hashed RENAME TO idempotency;
CREATE INDEX idempotency_age ON idempotency (seller_id, at);
