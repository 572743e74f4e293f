-- Several accounts per seller, each with a name and a role. The accounts that exist are owners, and
-- named after their e-mail addresses. SQLite cannot change a primary key, so that the tables are
-- created again.

-- The highest id of an account, so that none is given twice.
ALTER TABLE seller ADD COLUMN last_account_id INTEGER NOT NULL DEFAULT 0
  CHECK (last_account_id >= 0);
UPDATE seller SET last_account_id = 1 WHERE id IN (SELECT seller_id FROM account);

ALTER TABLE account RENAME TO old_account;
ALTER TABLE account_email RENAME TO old_account_email;
ALTER TABLE recovery_code RENAME TO old_recovery_code;
ALTER TABLE session RENAME TO old_session;
ALTER TABLE invitation RENAME TO old_invitation;
DROP INDEX invitation_seller;
DROP INDEX invitation_expiry;

CREATE TABLE account (
  seller_id   INTEGER NOT NULL REFERENCES seller (id),
  -- From 1 for each seller.
  id          INTEGER NOT NULL CHECK (id > 0),
  -- No other account of the seller has it: it is the actor of the changes that the account makes.
  name        TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  role        TEXT    NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
  -- In lower case.
  email       TEXT    NOT NULL UNIQUE CHECK (length(email) BETWEEN 3 AND 254),
  -- As the PHC string format writes it, with its parameters and its salt.
  password    TEXT    NOT NULL CHECK (length(password) BETWEEN 1 AND 255),
  totp_secret BLOB CHECK (length(totp_secret) BETWEEN 29 AND 256),
  -- The last time step of which a one-time password was accepted.
  totp_step   INTEGER NOT NULL DEFAULT 0 CHECK (totp_step >= 0),
  locale      TEXT    NOT NULL CHECK (length(locale) BETWEEN 2 AND 35),
  time_zone   TEXT    NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 64),
  created_at  INTEGER NOT NULL CHECK (created_at >= 0),
  -- Of the last sign-in or page, exact to a minute.
  seen_at     INTEGER NOT NULL CHECK (seen_at >= 0),
  PRIMARY KEY (seller_id, id)
) STRICT, WITHOUT ROWID;

INSERT INTO account
SELECT a.seller_id, 1, substr(a.email, 1, min(instr(a.email, '@') - 1, 100)), 'owner', a.email,
  a.password, a.totp_secret, a.totp_step, a.locale, a.time_zone, a.created_at,
  coalesce((SELECT max(s.seen_at) FROM old_session AS s WHERE s.seller_id = a.seller_id),
    a.created_at)
FROM old_account AS a;

-- The account of each e-mail address: signing in knows nothing else.
CREATE TABLE account_email (
  -- As in account.
  email      TEXT    PRIMARY KEY CHECK (length(email) BETWEEN 3 AND 254),
  seller_id  INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  UNIQUE (seller_id, account_id),
  FOREIGN KEY (seller_id, account_id) REFERENCES account (seller_id, id)
) STRICT, WITHOUT ROWID;

INSERT INTO account_email SELECT email, seller_id, 1 FROM old_account_email;

-- Each replaces the device that generates one-time passwords for one sign-in, and is removed then.
CREATE TABLE recovery_code (
  seller_id  INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  hash       TEXT    NOT NULL CHECK (length(hash) = 64),
  PRIMARY KEY (seller_id, account_id, hash),
  FOREIGN KEY (seller_id, account_id) REFERENCES account (seller_id, id)
) STRICT, WITHOUT ROWID;

INSERT INTO recovery_code SELECT seller_id, 1, hash FROM old_recovery_code;

CREATE TABLE session (
  seller_id  INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  id         INTEGER NOT NULL CHECK (id > 0),
  hash       TEXT    NOT NULL UNIQUE CHECK (length(hash) = 64),
  created_at INTEGER NOT NULL CHECK (created_at >= 0),
  -- Exact to a minute.
  seen_at    INTEGER NOT NULL CHECK (seen_at >= 0),
  address    TEXT    NOT NULL CHECK (length(address) <= 100),
  user_agent TEXT    NOT NULL CHECK (length(user_agent) <= 200),
  PRIMARY KEY (seller_id, account_id, id),
  FOREIGN KEY (seller_id, account_id) REFERENCES account (seller_id, id)
) STRICT, WITHOUT ROWID;

INSERT INTO session
SELECT seller_id, 1, id, hash, created_at, seen_at, address, user_agent FROM old_session;

-- Codes by which an account can be created, each once.
CREATE TABLE invitation (
  hash       TEXT    PRIMARY KEY CHECK (length(hash) = 64),
  -- Of an existing seller; NULL for a new one.
  seller_id  INTEGER REFERENCES seller (id),
  role       TEXT    NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
  -- NULL for the one of the e-mail address.
  name       TEXT CHECK (length(name) BETWEEN 1 AND 100),
  -- Whether it is valid only while there is no seller.
  is_first   INTEGER NOT NULL CHECK (is_first IN (0, 1)),
  expires_at INTEGER NOT NULL CHECK (expires_at >= 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX invitation_seller ON invitation (seller_id);
CREATE INDEX invitation_expiry ON invitation (expires_at);

INSERT INTO invitation
SELECT hash, seller_id, 'owner', NULL, is_first, expires_at FROM old_invitation AS i
-- A seller had one account, so that these had lost their effect.
WHERE NOT EXISTS (SELECT 1 FROM account AS a WHERE a.seller_id = i.seller_id);

DROP TABLE old_invitation;
DROP TABLE old_session;
DROP TABLE old_recovery_code;
DROP TABLE old_account_email;
DROP TABLE old_account;

-- Who did it: the name of an account or of a key; NULL for the command line, and before this.
ALTER TABLE audit_event ADD COLUMN actor TEXT CHECK (length(actor) BETWEEN 1 AND 100);
ALTER TABLE api_key ADD COLUMN created_by TEXT CHECK (length(created_by) BETWEEN 1 AND 100);
ALTER TABLE webhook ADD COLUMN created_by TEXT CHECK (length(created_by) BETWEEN 1 AND 100);
