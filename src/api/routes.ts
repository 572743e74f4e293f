/** The whole API on one screen. HEAD is answered wherever GET is. */
import type { Scope } from '../domain/access/scope.ts';
import { listChanges } from '../features/changes/changes.ts';
import { readHealth, readReadiness } from './health.ts';
import { importProducts } from '../features/imports/import.ts';
import {
  CSV_TYPE, EVENT_STREAM_TYPE, JSON_TYPE, MERGE_PATCH_TYPE, NDJSON_TYPE,
} from './media-types.ts';
import { listMovements } from '../features/changes/movements.ts';
import { readOpenApi } from '../features/openapi/openapi.ts';
import { listChangesOperation } from '../features/changes/operations.ts';
import { readHealthOperation, readReadinessOperation } from './health-operations.ts';
import { importProductsOperation } from '../features/imports/operation.ts';
import { readOpenApiOperation } from '../features/openapi/operation.ts';
import {
  createProductOperation, listProductsOperation,
} from './products/product-list-operation.ts';
import {
  deleteProductBySkuOperation, deleteProductOperation, patchProductBySkuOperation,
  patchProductOperation, putProductBySkuOperation, readProductBySkuOperation, readProductOperation,
} from './products/product-operations.ts';
import {
  listMovementsOperation, listStockOperation, syncStockOperation,
} from './stock/stock-operations.ts';
import {
  createWebhookOperation, deleteWebhookOperation, listDeliveriesOperation, listWebhooksOperation,
  patchWebhookOperation, readWebhookOperation, replayWebhookOperation, rotateSecretOperation,
  testWebhookOperation,
} from '../features/webhooks/operations.ts';
import {
  changesParameters, importParameters, listParameters, movementParameters, pageParameters,
  stockParameters, stockSyncParameters,
} from './description/parameters.ts';
import { CHANGES, HEALTH, MOVEMENTS, PRODUCTS, READINESS, STOCK, WEBHOOKS } from './paths.ts';
import { listProducts } from './products/product-list.ts';
import {
  createProduct, deleteProduct, patchProduct, putProduct, readProduct,
} from './products/products.ts';
import type { Route } from './route.ts';
import { listStock } from './stock/stock-levels.ts';
import { syncStock } from './stock/stock-sync.ts';
import {
  listDeliveries, replayWebhook, rotateSecret, testWebhook,
} from '../features/webhooks/actions.ts';
import {
  createWebhook, deleteWebhook, listWebhooks, patchWebhook, readWebhook,
} from '../features/webhooks/routes.ts';

const READ = 'products:read' satisfies Scope;
const WRITE = 'products:write' satisfies Scope;
const HOOKS = { scope: 'webhooks:write' } as const satisfies { readonly scope: Scope };

/** What most routes of a method are. */
const get = {
  method: 'GET', scope: READ, query: [], consumes: [], produces: [JSON_TYPE],
} as const;
const post = { ...get, method: 'POST', scope: WRITE, consumes: [JSON_TYPE] } as const;
const put = { ...post, method: 'PUT' } as const;
const patch = { ...post, method: 'PATCH', consumes: [MERGE_PATCH_TYPE, JSON_TYPE] } as const;
const remove = { ...post, method: 'DELETE', consumes: [], produces: [] } as const;

const PRODUCT = `${PRODUCTS}/{id}`;
const PRODUCT_BY_SKU = `${PRODUCTS}/sku/{sku}`;
const WEBHOOK = `${WEBHOOKS}/{webhook_id}`;

export const routes: readonly Route[] = [
  {
    ...get, path: PRODUCTS, query: listParameters, produces: [JSON_TYPE, NDJSON_TYPE, CSV_TYPE],
    operation: listProductsOperation, handle: listProducts,
  },
  { ...post, path: PRODUCTS, operation: createProductOperation, handle: createProduct },
  {
    ...post, path: `${PRODUCTS}/import`, query: importParameters,
    consumes: [NDJSON_TYPE, CSV_TYPE], produces: [NDJSON_TYPE],
    operation: importProductsOperation, handle: importProducts,
  },

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
  {
    ...get, path: MOVEMENTS, scope: 'changes:read', query: movementParameters,
    produces: [JSON_TYPE, NDJSON_TYPE, CSV_TYPE],
    operation: listMovementsOperation, handle: listMovements,
  },
  {
    ...get, path: CHANGES, scope: 'changes:read', query: changesParameters,
    produces: [JSON_TYPE, EVENT_STREAM_TYPE], operation: listChangesOperation, handle: listChanges,
  },

  {
    ...get, path: '/api/v1/openapi.json', scope: undefined,
    operation: readOpenApiOperation, handle: readOpenApi,
  },

  {
    ...get, path: HEALTH, scope: undefined, operation: readHealthOperation, handle: readHealth,
  },
  {
    ...get, path: READINESS, scope: undefined,
    operation: readReadinessOperation, handle: readReadiness,
  },

  {
    ...get, ...HOOKS, path: WEBHOOKS, query: pageParameters,
    operation: listWebhooksOperation, handle: listWebhooks,
  },
  {
    ...post, ...HOOKS, path: WEBHOOKS, operation: createWebhookOperation, handle: createWebhook,
  },
  { ...get, ...HOOKS, path: WEBHOOK, operation: readWebhookOperation, handle: readWebhook },
  { ...patch, ...HOOKS, path: WEBHOOK, operation: patchWebhookOperation, handle: patchWebhook },
  { ...remove, ...HOOKS, path: WEBHOOK, operation: deleteWebhookOperation, handle: deleteWebhook },
  {
    ...get, ...HOOKS, path: `${WEBHOOK}/deliveries`, query: pageParameters,
    operation: listDeliveriesOperation, handle: listDeliveries,
  },
  {
    ...post, ...HOOKS, path: `${WEBHOOK}/test`, consumes: [],
    operation: testWebhookOperation, handle: testWebhook,
  },
  {
    ...post, ...HOOKS, path: `${WEBHOOK}/replay`,
    operation: replayWebhookOperation, handle: replayWebhook,
  },
  {
    ...post, ...HOOKS, path: `${WEBHOOK}/rotate-secret`,
    operation: rotateSecretOperation, handle: rotateSecret,
  },
];
