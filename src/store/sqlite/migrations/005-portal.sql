-- The portal: who may sign in for a seller, where they are signed in, who was invited, and the log
-- of what matters for safety. Passwords, sessions and codes are kept as hashes alone; the secrets of
-- one-time passwords are sealed with a key that is not in this file.

CREATE TABLE account (
  seller_id   INTEGER PRIMARY KEY REFERENCES seller (id),
  -- In lower case.
  email       TEXT    NOT NULL UNIQUE CHECK (length(email) BETWEEN 3 AND 254),
  -- As the PHC string format writes it, with its parameters and its salt.
  password    TEXT    NOT NULL CHECK (length(password) BETWEEN 1 AND 255),
  totp_secret BLOB CHECK (length(totp_secret) BETWEEN 29 AND 256),
  -- The last time step of which a one-time password was taken: none is taken twice.
  totp_step   INTEGER NOT NULL DEFAULT 0 CHECK (totp_step >= 0),
  locale      TEXT    NOT NULL CHECK (length(locale) BETWEEN 2 AND 35),
  time_zone   TEXT    NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 64),
  -- Products with this stock or less are shown as low.
  low_stock   INTEGER NOT NULL DEFAULT 5 CHECK (low_stock BETWEEN 0 AND 1000000000),
  created_at  INTEGER NOT NULL CHECK (created_at >= 0)
) STRICT;

-- Each stands for one sign-in without the device that makes one-time passwords, and is removed then.
CREATE TABLE recovery_code (
  seller_id INTEGER NOT NULL REFERENCES account (seller_id),
  hash      TEXT    NOT NULL CHECK (length(hash) = 64),
  PRIMARY KEY (seller_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  seller_id  INTEGER NOT NULL REFERENCES account (seller_id),
  id         INTEGER NOT NULL CHECK (id > 0),
  hash       TEXT    NOT NULL UNIQUE CHECK (length(hash) = 64),
  created_at INTEGER NOT NULL CHECK (created_at >= 0),
  -- Exact to a minute.
  seen_at    INTEGER NOT NULL CHECK (seen_at >= 0),
  address    TEXT    NOT NULL CHECK (length(address) <= 100),
  user_agent TEXT    NOT NULL CHECK (length(user_agent) <= 200),
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;

-- Codes by which an account can be made, each once.
CREATE TABLE invitation (
  hash       TEXT    PRIMARY KEY CHECK (length(hash) = 64),
  -- Of a seller who is there and has no account yet; NULL for a new one.
  seller_id  INTEGER REFERENCES seller (id),
  -- Whether it holds only as long as there is no seller.
  is_first   INTEGER NOT NULL CHECK (is_first IN (0, 1)),
  expires_at INTEGER NOT NULL CHECK (expires_at >= 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX invitation_seller ON invitation (seller_id);
CREATE INDEX invitation_expiry ON invitation (expires_at);

-- What happened to accounts and keys. Each event carries a hash over itself and the hash before it:
-- one that was changed or removed later breaks the chain.
CREATE TABLE audit_event (
  n         INTEGER PRIMARY KEY CHECK (n > 0),
  -- NULL where it is not about one seller.
  seller_id INTEGER REFERENCES seller (id),
  at        INTEGER NOT NULL CHECK (at >= 0),
  type      TEXT    NOT NULL CHECK (length(type) BETWEEN 1 AND 64),
  -- Where it was asked for; empty for the command line and whoever embeds the server.
  address   TEXT    NOT NULL CHECK (length(address) <= 100),
  -- What it was done to, such as the id of a key, for people to read.
  subject   TEXT    NOT NULL CHECK (length(subject) <= 300),
  hash      BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE INDEX audit_event_seller ON audit_event (seller_id, n);
CREATE INDEX audit_event_type ON audit_event (seller_id, type, n);
