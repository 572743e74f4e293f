-- Finds products by their barcodes. GTINs that differ only in leading zeros are equal as integers.
DROP INDEX product_barcode;
CREATE INDEX product_barcode ON product (seller_id, CAST(barcode AS bigint), id)
  WHERE barcode IS NOT NULL;
