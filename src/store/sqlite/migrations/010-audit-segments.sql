-- Authenticates the chain of audit_event with a key that is not in this file. A segment is a run of
-- events that were added with one key; only the newest one grows.

CREATE TABLE audit_segment (
  id        INTEGER PRIMARY KEY CHECK (id > 0),
  -- The first event of the segment. Those before the first segment are older than this table.
  first     INTEGER NOT NULL CHECK (first > 0),
  -- Its newest event; the one before `first` while it has none.
  last      INTEGER NOT NULL CHECK (last >= first - 1),
  -- Why it was begun: with the table; with another key; or because the events did not match the mac
  -- of the segment before.
  origin    TEXT    NOT NULL CHECK (origin IN ('start', 'key', 'mismatch')),
  -- Names the key without telling anything of it.
  key_id    BLOB    NOT NULL CHECK (length(key_id) = 16),
  -- HMAC-SHA-256 over this row and the hash of the event `last`.
  mac       BLOB    NOT NULL CHECK (length(mac) = 32)
) STRICT;
