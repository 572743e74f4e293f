-- The id that the program which embeds the server has given a seller.
ALTER TABLE seller ADD COLUMN external_id text CHECK (length(external_id) BETWEEN 1 AND 200);

-- The seller of each external id: a program may know nothing else. Global.
CREATE TABLE seller_external_id (
  external_id text   PRIMARY KEY CHECK (length(external_id) BETWEEN 1 AND 200),
  seller_id   bigint NOT NULL UNIQUE
);
