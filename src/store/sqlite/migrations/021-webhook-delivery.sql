-- One change in a message instead of up to 100, for receivers that run once for each.
ALTER TABLE webhook ADD COLUMN delivery TEXT NOT NULL DEFAULT 'batch'
  CHECK (delivery IN ('batch', 'single'));

-- What a message with one change says about it, and the shop's low-stock threshold when a message
-- was made, if it depends on that: so that it stays the same in every attempt.
ALTER TABLE webhook ADD COLUMN message_event TEXT CHECK (length(message_event) BETWEEN 1 AND 20);
ALTER TABLE webhook ADD COLUMN message_low_stock INTEGER CHECK (message_low_stock >= 0);
