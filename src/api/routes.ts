/**
 * The routes of the core on one screen: products, stock and health. HEAD works wherever GET does.
 * Each feature has its own route table, `src/features/<feature>/feature.ts`:
 *
 *     changes   /api/v1/changes, /api/v1/stock/movements
 *     imports   /api/v1/products/import
 *     openapi   /api/v1/openapi.json
 *     webhooks  /api/v1/webhooks...
 *
 * `/portal` and `/metrics`, which are outside the API, belong to the features `portal` and
 * `telemetry`.
 */
import type { Scope } from '../domain/access/caller.ts';
import {
  readHealth, readHealthOperation, readReadiness, readReadinessOperation,
} from './health.ts';
import { lookUpProducts } from './products/lookup.ts';
import { listProducts } from './products/product-list.ts';
import { productOperations } from './products/product-operations.ts';
import {
  createProduct, deleteProduct, patchProduct, putProduct, readProduct,
} from './products/products.ts';
import { HEALTH, keyRoute, openRoute, PRODUCTS, READINESS, type Route, STOCK } from './route.ts';
import { listStock, syncStock } from './stock/stock.ts';
import { listStockOperation, syncStockOperation } from './stock/stock-operations.ts';

const product = productOperations;
const PRODUCT = `${PRODUCTS}/{id}`;
const BY_SKU = `${PRODUCTS}/sku/{sku}`;
/** With `prices:write`, a key may change the price alone. */
const PATCH: readonly Scope[] = ['products:write', 'prices:write'];

export const routes: readonly Route[] = [
  keyRoute('GET', PRODUCTS, 'products:read', product.list, listProducts),
  keyRoute('POST', PRODUCTS, 'products:write', product.create, createProduct),
  keyRoute('POST', `${PRODUCTS}/lookup`, 'products:read', product.lookUp, lookUpProducts),

  keyRoute('GET', PRODUCT, 'products:read', product.read, readProduct),
  keyRoute('PATCH', PRODUCT, PATCH, product.patch, patchProduct),
  keyRoute('DELETE', PRODUCT, 'products:write', product.delete, deleteProduct),

  keyRoute('GET', BY_SKU, 'products:read', product.readBySku, readProduct),
  keyRoute('PUT', BY_SKU, 'products:write', product.putBySku, putProduct),
  keyRoute('PATCH', BY_SKU, PATCH, product.patchBySku, patchProduct),
  keyRoute('DELETE', BY_SKU, 'products:write', product.deleteBySku, deleteProduct),

  keyRoute('GET', STOCK, 'products:read', listStockOperation, listStock),
  keyRoute('POST', STOCK, 'stock:write', syncStockOperation, syncStock),

  openRoute(HEALTH, readHealthOperation, readHealth),
  openRoute(READINESS, readReadinessOperation, readReadiness),
];
