-- Requests a minute that a key may send; NULL for the server's limit.
ALTER TABLE api_key ADD COLUMN rate_limit_per_minute bigint
  CHECK (rate_limit_per_minute BETWEEN 1 AND 10000000);
