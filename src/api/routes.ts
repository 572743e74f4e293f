/** The whole API on one screen. */
import { createProduct, listProducts, readProduct } from './products.ts';
import type { Route } from './route.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: '/api/v1/products', scope: 'products:read', query: ['limit', 'cursor'], handle: listProducts },
  { method: 'POST', path: '/api/v1/products', scope: 'products:write', query: [], handle: createProduct },
  { method: 'GET', path: '/api/v1/products/{id}', scope: 'products:read', query: [], handle: readProduct },
];
