-- A seller who is disabled keeps all data, and may do nothing: no key and no account opens anything.

-- NULL while the seller is not disabled.
ALTER TABLE seller ADD COLUMN disabled_at INTEGER CHECK (disabled_at >= 0);
