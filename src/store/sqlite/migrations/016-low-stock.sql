-- The low-stock threshold belongs to the shop, whoever signs in for it.

-- Products with this stock or less are shown as low.
ALTER TABLE seller ADD COLUMN
  low_stock INTEGER NOT NULL DEFAULT 5 CHECK (low_stock BETWEEN 0 AND 1000000000);

UPDATE seller SET low_stock = account.low_stock FROM account WHERE account.seller_id = seller.id;

ALTER TABLE account DROP COLUMN low_stock;
