/** The whole API on one screen. */
import type { Scope } from '../domain/scope.ts';
import { createProduct, listProducts, PRODUCTS, readProduct } from './products.ts';
import type { Route } from './route.ts';

const READ: Scope = 'products:read';
const WRITE: Scope = 'products:write';

export const routes: readonly Route[] = [
  { method: 'GET', path: PRODUCTS, scope: READ, query: ['limit', 'cursor'], handle: listProducts },
  { method: 'POST', path: PRODUCTS, scope: WRITE, query: [], handle: createProduct },
  { method: 'GET', path: `${PRODUCTS}/{id}`, scope: READ, query: [], handle: readProduct },
];
