-- The id that the program which embeds the server has given a seller.
ALTER TABLE seller ADD COLUMN external_id TEXT CHECK (length(external_id) BETWEEN 1 AND 200);

-- The seller of each external id: a program may know nothing else.
CREATE TABLE seller_external_id (
  -- As in seller.
  external_id TEXT    PRIMARY KEY CHECK (length(external_id) BETWEEN 1 AND 200),
  seller_id   INTEGER NOT NULL UNIQUE REFERENCES seller (id)
) STRICT, WITHOUT ROWID;
