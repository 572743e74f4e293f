-- The types of changes as comparisons, which accept what the list of them did. For a list of more
-- than two, SQLite fills an index in every statement that inserts changes, which took a third of
-- the time of a stock movement. Only the text of the constraint changes: no row is read or written
-- (https://www.sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes").
PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(
  sql, 'type IN (''stock'', ''created'', ''updated'', ''deleted'')',
  'type = ''stock'' OR type = ''created'' OR type = ''updated'' OR type = ''deleted''')
WHERE type = 'table' AND name = 'change';

-- Any change of a table makes other connections read the schema again.
CREATE TABLE schema_change (id INTEGER PRIMARY KEY) STRICT;
DROP TABLE schema_change;

PRAGMA writable_schema = RESET;
