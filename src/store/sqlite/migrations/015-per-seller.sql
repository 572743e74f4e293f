-- The seller of each e-mail address: signing in knows nothing else of an account. Every other
-- statement on accounts names the seller.
CREATE TABLE account_email (
  -- As in account.
  email     TEXT    PRIMARY KEY CHECK (length(email) BETWEEN 3 AND 254),
  seller_id INTEGER NOT NULL UNIQUE REFERENCES account (seller_id)
) STRICT, WITHOUT ROWID;

INSERT INTO account_email (email, seller_id) SELECT email, seller_id FROM account;

-- One chain of audit events for each seller, so that an event touches the rows of its seller only.
-- Events that are about no seller are in a chain of their own, whose seller_id is 0. The program
-- verifies the one chain that there was, copies its events, and drops the old tables.

DROP INDEX audit_event_seller;
DROP INDEX audit_event_type;
ALTER TABLE audit_event RENAME TO old_audit_event;
ALTER TABLE audit_segment RENAME TO old_audit_segment;

CREATE TABLE audit_event (
  seller_id INTEGER NOT NULL CHECK (seller_id >= 0),
  n         INTEGER NOT NULL CHECK (n > 0),
  at        INTEGER NOT NULL CHECK (at >= 0),
  type      TEXT    NOT NULL CHECK (length(type) BETWEEN 1 AND 64),
  -- The client's; empty for the command line and for programs that embed the server.
  address   TEXT    NOT NULL CHECK (length(address) <= 100),
  -- What the event is about, such as the id of a key, for people to read.
  subject   TEXT    NOT NULL CHECK (length(subject) <= 300),
  -- SHA-256 of this event and of the hash of the seller's event before.
  hash      BLOB    NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (seller_id, n)
) STRICT;

CREATE INDEX audit_event_type ON audit_event (seller_id, type, n);

-- Each chain has a segment from its start. Only the newest one of a chain grows.
CREATE TABLE audit_segment (
  seller_id INTEGER NOT NULL CHECK (seller_id >= 0),
  id        INTEGER NOT NULL CHECK (id > 0),
  first     INTEGER NOT NULL CHECK (first > 0),
  -- Its newest event; the one before `first` while it has none.
  last      INTEGER NOT NULL CHECK (last >= first - 1),
  -- Why it began: with its chain; with another key; because the events did not match the code of
  -- the segment before; or by this migration, which found the old chain verified, authenticated
  -- with another key, or not matching its codes.
  origin    TEXT    NOT NULL CHECK (origin IN (
    'start', 'key', 'mismatch', 'upgrade', 'upgrade-key', 'upgrade-mismatch')),
  -- Identifies the key and reveals nothing of it.
  key_id    BLOB    NOT NULL CHECK (length(key_id) = 16),
  -- HMAC-SHA-256 over this row and the hash of the event `last`.
  mac       BLOB    NOT NULL CHECK (length(mac) = 32),
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;
