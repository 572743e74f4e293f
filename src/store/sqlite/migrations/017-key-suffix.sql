-- What identifies a key on screen, and the key that replaced a rotated one.

-- The end of the secret; NULL for keys of earlier versions.
ALTER TABLE api_key ADD COLUMN last_four TEXT CHECK (length(last_four) = 4);
ALTER TABLE api_key ADD COLUMN successor_id INTEGER CHECK (successor_id > 0);
