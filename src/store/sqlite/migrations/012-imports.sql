-- A record for every import, stock sync, stocktake and revert, so that its changes can be listed
-- and reverted together.
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
  -- NULL while it runs, and if it never reached its end.
  finished_at    INTEGER CHECK (finished_at >= 0),
  -- How many rows had which outcome, as JSON.
  counts         TEXT    NOT NULL,
  -- Of its first and last change; NULL if it changed nothing.
  first_position INTEGER CHECK (first_position > 0),
  last_position  INTEGER CHECK (last_position >= first_position),
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;

-- NULL for changes that are not part of an import.
ALTER TABLE change ADD COLUMN import_id INTEGER CHECK (import_id > 0);
