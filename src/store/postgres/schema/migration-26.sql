-- Finds products by their barcodes. GTINs that differ only in leading zeros are equal as integers.
DROP INDEX product_barcode;
CREATE INDEX product_barcode ON product (seller_id, CAST(barcode AS bigint), id)
  WHERE barcode IS NOT NULL;

-- Finds products by pairs of their metadata. The key of the seller is a part of each entry, so that
-- the pairs of other sellers cost nothing.
CREATE INDEX product_metadata ON product
  USING gin ((('{"' || seller_id::text || '":' || metadata || '}')::jsonb) jsonb_path_ops)
  WHERE metadata IS NOT NULL;
