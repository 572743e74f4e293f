-- Lived time (src/runtime/clock.ts): what is forgotten, and what grants access, has times that a
-- step of the clock does not move. Rows from before count from the migration.

-- The lived time of the store, one row for each day of it.
CREATE TABLE lived_time (
  day      bigint PRIMARY KEY CHECK (day >= 0),
  -- When it began, by the clock of the process that noted it.
  began_at bigint NOT NULL CHECK (began_at >= 0),
  -- The greatest lived time of the day, in milliseconds.
  lived_ms bigint NOT NULL CHECK (lived_ms >= 0)
);

ALTER TABLE idempotency ADD COLUMN lived_at bigint NOT NULL DEFAULT 0 CHECK (lived_at >= 0);
DROP INDEX idempotency_age;
CREATE INDEX idempotency_age ON idempotency (seller_id, lived_at);

ALTER TABLE webhook ADD COLUMN failing_lived_since bigint CHECK (failing_lived_since >= 0);

ALTER TABLE session ADD COLUMN lived_at bigint NOT NULL DEFAULT 0 CHECK (lived_at >= 0);
ALTER TABLE session ADD COLUMN seen_lived_at bigint NOT NULL DEFAULT 0 CHECK (seen_lived_at >= 0);
ALTER TABLE api_key ADD COLUMN lived_until bigint CHECK (lived_until >= 0);
ALTER TABLE invitation ADD COLUMN lived_until bigint CHECK (lived_until >= 0);

-- Whether all people of a shop must sign in with two factors.
ALTER TABLE seller ADD COLUMN two_factor_required bigint NOT NULL DEFAULT 0
  CHECK (two_factor_required IN (0, 1));
