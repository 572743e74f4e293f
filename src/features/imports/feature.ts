/** Imports of products from CSV and NDJSON files of any length. */
import { CSV_TYPE, NDJSON_TYPE } from '../../api/media-types.ts';
import { PRODUCTS, routeDefaults } from '../../api/route.ts';
import type { Feature } from '../../feature.ts';
import { importProducts } from './import.ts';
import { importParameters, importProductsOperation } from './operation.ts';
import { importSchemas } from './schemas.ts';

export const imports: Feature = {
  routes: [{
    ...routeDefaults.post, path: `${PRODUCTS}/import`, query: importParameters,
    consumes: [NDJSON_TYPE, CSV_TYPE], produces: [NDJSON_TYPE],
    operation: importProductsOperation, handle: importProducts,
  }],
  schemas: importSchemas,
};
