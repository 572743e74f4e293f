-- Who made a change without a key: a name that the program which embeds the server gives. NULL for
-- every change made with a key.
ALTER TABLE change ADD COLUMN actor TEXT CHECK (length(actor) BETWEEN 1 AND 100);
