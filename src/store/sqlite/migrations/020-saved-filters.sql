-- Filters of the portal's lists, saved for all accounts of a seller.
CREATE TABLE saved_filter (
  seller_id INTEGER NOT NULL REFERENCES seller (id),
  -- The page: products or changes.
  list      TEXT    NOT NULL CHECK (list = 'products' OR list = 'changes'),
  name      TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  -- The query of the page's address.
  query     TEXT    NOT NULL CHECK (length(query) BETWEEN 1 AND 200),
  PRIMARY KEY (seller_id, list, name)
) STRICT, WITHOUT ROWID;
