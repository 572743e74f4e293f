-- How many units of stock came in and went out on each day of UTC, counted as they move. A sum that
-- has come to 2^53 - 1 stays there.

CREATE TABLE stock_day (
  seller_id INTEGER NOT NULL REFERENCES seller (id),
  -- Days since 1970.
  day       INTEGER NOT NULL CHECK (day >= 0),
  units_in  INTEGER NOT NULL CHECK (units_in BETWEEN 0 AND 9007199254740991),
  units_out INTEGER NOT NULL CHECK (units_out BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (seller_id, day)
) STRICT, WITHOUT ROWID;

-- As far as the history is kept: of what is older, single changes are.
INSERT INTO stock_day
SELECT c.seller_id, c.at / 86400000 AS day,
  min(sum(max(c.stock_after - c.stock_before, 0)), 9007199254740991),
  min(sum(max(c.stock_before - c.stock_after, 0)), 9007199254740991)
FROM change AS c JOIN seller AS s ON s.id = c.seller_id
WHERE c.position > s.pruned_to AND c.stock_after <> c.stock_before
GROUP BY c.seller_id, day;
