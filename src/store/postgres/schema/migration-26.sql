-- Finds products by their barcodes. GTINs that differ only in leading zeros are equal as integers.
DROP INDEX product_barcode;
CREATE INDEX product_barcode ON product (seller_id, CAST(barcode AS bigint), id)
  WHERE barcode IS NOT NULL;

-- Finds products by pairs of their metadata. The key of the seller is a part of each entry, so that
-- the pairs of other sellers cost nothing. Every search reads all entries that are pending, and with
-- many of them, the planner would rather read the table: so few are kept (the unit is kB).
CREATE INDEX product_metadata ON product
  USING gin ((('{"' || seller_id::text || '":' || metadata || '}')::jsonb) jsonb_path_ops)
  WITH (gin_pending_list_limit = 64)
  WHERE metadata IS NOT NULL;
