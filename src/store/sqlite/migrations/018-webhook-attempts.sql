-- What an attempt sent and received, shortened, and what its message consists of, as JSON. NULL for
-- the attempts of earlier versions.
ALTER TABLE webhook_attempt ADD COLUMN detail TEXT CHECK (length(detail) BETWEEN 2 AND 65536);
