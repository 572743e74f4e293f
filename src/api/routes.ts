/**
 * The routes of the core on one screen: products, stock and health. HEAD is answered wherever GET
 * is. Each feature has its routes in its own table, `src/features/<feature>/feature.ts`:
 *
 *     changes   /api/v1/changes, /api/v1/stock/movements
 *     imports   /api/v1/products/import
 *     openapi   /api/v1/openapi.json
 *     webhooks  /api/v1/webhooks...
 *
 * Pages beside the API, which are `/portal` and `/metrics`, belong to the features `portal` and
 * `telemetry`.
 */
import {
  readHealth, readHealthOperation, readReadiness, readReadinessOperation,
} from './health.ts';
import { CSV_TYPE, JSON_TYPE, NDJSON_TYPE } from './media-types.ts';
import { HEALTH, PRODUCTS, READINESS, type Route, routeDefaults, STOCK } from './route.ts';
import { listProducts } from './products/product-list.ts';
import {
  createProductOperation, deleteProductBySkuOperation, deleteProductOperation, listParameters,
  listProductsOperation, patchProductBySkuOperation, patchProductOperation,
  putProductBySkuOperation, readProductBySkuOperation, readProductOperation,
} from './products/product-operations.ts';
import {
  createProduct, deleteProduct, patchProduct, putProduct, readProduct,
} from './products/products.ts';
import { listStock } from './stock/stock-levels.ts';
import {
  listStockOperation, stockParameters, stockSyncParameters, syncStockOperation,
} from './stock/stock-operations.ts';
import { syncStock } from './stock/stock-sync.ts';

const { get, post, put, patch, remove } = routeDefaults;
const open = { ...get, scope: undefined };

const PRODUCT = `${PRODUCTS}/{id}`;
const PRODUCT_BY_SKU = `${PRODUCTS}/sku/{sku}`;

export const routes: readonly Route[] = [
  {
    ...get, path: PRODUCTS, query: listParameters, produces: [JSON_TYPE, NDJSON_TYPE, CSV_TYPE],
    operation: listProductsOperation, handle: listProducts,
  },
  { ...post, path: PRODUCTS, operation: createProductOperation, handle: createProduct },

  { ...get, path: PRODUCT, operation: readProductOperation, handle: readProduct },
  { ...patch, path: PRODUCT, operation: patchProductOperation, handle: patchProduct },
  { ...remove, path: PRODUCT, operation: deleteProductOperation, handle: deleteProduct },

  { ...get, path: PRODUCT_BY_SKU, operation: readProductBySkuOperation, handle: readProduct },
  { ...put, path: PRODUCT_BY_SKU, operation: putProductBySkuOperation, handle: putProduct },
  { ...patch, path: PRODUCT_BY_SKU, operation: patchProductBySkuOperation, handle: patchProduct },
  {
    ...remove, path: PRODUCT_BY_SKU, operation: deleteProductBySkuOperation, handle: deleteProduct,
  },

  {
    ...get, path: STOCK, query: stockParameters, produces: [JSON_TYPE, NDJSON_TYPE, CSV_TYPE],
    operation: listStockOperation, handle: listStock,
  },
  {
    ...post, path: STOCK, scope: 'stock:write', query: stockSyncParameters,
    consumes: [JSON_TYPE, NDJSON_TYPE], produces: [JSON_TYPE, NDJSON_TYPE],
    operation: syncStockOperation, handle: syncStock,
  },

  { ...open, path: HEALTH, operation: readHealthOperation, handle: readHealth },
  { ...open, path: READINESS, operation: readReadinessOperation, handle: readReadiness },
];
