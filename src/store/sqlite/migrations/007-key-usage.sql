-- How often each key was used in each hour of UTC of the last days.

CREATE TABLE key_usage (
  seller_id INTEGER NOT NULL REFERENCES seller (id),
  -- Hours since 1970. It comes before the key, for what is read and what is forgotten are hours.
  hour      INTEGER NOT NULL CHECK (hour >= 0),
  key_id    INTEGER NOT NULL CHECK (key_id > 0),
  requests  INTEGER NOT NULL CHECK (requests >= 0),
  refusals  INTEGER NOT NULL CHECK (refusals BETWEEN 0 AND requests),
  PRIMARY KEY (seller_id, hour, key_id)
) STRICT, WITHOUT ROWID;
