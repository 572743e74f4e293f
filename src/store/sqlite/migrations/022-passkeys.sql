-- Passkeys: credentials of authenticators that sign in to an account, with its password or instead.

ALTER TABLE account ADD COLUMN is_password_off INTEGER NOT NULL DEFAULT 0
  CHECK (is_password_off IN (0, 1));

CREATE TABLE passkey (
  seller_id     INTEGER NOT NULL,
  account_id    INTEGER NOT NULL,
  id            INTEGER NOT NULL CHECK (id > 0),
  -- The authenticator's. An answer names its account, so it need not be unique beyond the seller.
  credential_id BLOB    NOT NULL CHECK (length(credential_id) BETWEEN 1 AND 1023),
  -- As a COSE_Key, which names its algorithm.
  public_key    BLOB    NOT NULL CHECK (length(public_key) BETWEEN 1 AND 1024),
  -- The host name that it works at.
  rp_id         TEXT    NOT NULL CHECK (length(rp_id) BETWEEN 1 AND 253),
  -- 0 if the authenticator does not count.
  sign_count    INTEGER NOT NULL CHECK (sign_count BETWEEN 0 AND 4294967295),
  name          TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  -- How browsers reach the authenticator, separated by spaces.
  transports    TEXT    NOT NULL CHECK (length(transports) <= 100),
  created_at    INTEGER NOT NULL CHECK (created_at >= 0),
  last_used_at  INTEGER CHECK (last_used_at >= 0),
  PRIMARY KEY (seller_id, account_id, id),
  UNIQUE (seller_id, credential_id),
  FOREIGN KEY (seller_id, account_id) REFERENCES account (seller_id, id)
) STRICT, WITHOUT ROWID;
