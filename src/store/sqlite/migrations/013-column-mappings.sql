-- The columns that a seller chose for members in files with a set of column names.
CREATE TABLE column_mapping (
  seller_id   INTEGER NOT NULL REFERENCES seller (id),
  -- SHA-256 of the column names, in hexadecimal digits.
  header_hash TEXT    NOT NULL CHECK (length(header_hash) = 64),
  -- The column of each member, as a JSON object.
  columns     TEXT    NOT NULL CHECK (length(columns) BETWEEN 2 AND 8192),
  used_at     INTEGER NOT NULL CHECK (used_at >= 0),
  PRIMARY KEY (seller_id, header_hash)
) STRICT, WITHOUT ROWID;

-- For removing those used longest ago.
CREATE INDEX column_mapping_used ON column_mapping (seller_id, used_at, header_hash);
