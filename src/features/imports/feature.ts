/** Imports of products from CSV and NDJSON files of any length. */
import { keyRoute, PRODUCTS } from '../../api/route.ts';
import type { Feature } from '../../feature.ts';
import { importProducts } from './import.ts';
import { importProductsOperation } from './operation.ts';
import { importSchemas } from './schemas.ts';

export const imports: Feature = {
  routes: [keyRoute(
    'POST', `${PRODUCTS}/import`, 'products:write', importProductsOperation, importProducts,
  )],
  schemas: importSchemas,
};
