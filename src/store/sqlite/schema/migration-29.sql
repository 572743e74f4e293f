-- What remains of a seller that is being deleted or was deleted.
CREATE TABLE deleted_seller (
  id         INTEGER PRIMARY KEY CHECK (id > 0),
  -- Of its last change, once all of its rows are gone; 0 before.
  position   INTEGER NOT NULL CHECK (position >= 0),
  -- When the deletion began.
  deleted_at INTEGER NOT NULL CHECK (deleted_at >= 0)
) STRICT;
