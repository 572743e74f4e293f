-- Optional fields of products.

-- A GTIN: digits.
ALTER TABLE product ADD COLUMN barcode TEXT CHECK (length(barcode) BETWEEN 8 AND 14);
ALTER TABLE product ADD COLUMN description TEXT CHECK (length(description) BETWEEN 1 AND 5000);
-- Up to 20 pairs of texts, as a JSON object with sorted names.
ALTER TABLE product ADD COLUMN metadata TEXT CHECK (length(metadata) BETWEEN 2 AND 22000);
-- Stock up to which the product is low; NULL for the threshold of its seller.
ALTER TABLE product ADD COLUMN low_stock INTEGER CHECK (low_stock BETWEEN 0 AND 1000000000);
-- Whether lists leave the product out.
ALTER TABLE product ADD COLUMN
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1));

CREATE INDEX product_archived ON product (seller_id, archived, id);
