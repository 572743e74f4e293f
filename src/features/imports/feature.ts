/** Imports of products from CSV and NDJSON files of any length, and the records of all imports. */
import { keyRoute, PRODUCTS } from '../../api/route.ts';
import type { Feature } from '../../feature.ts';
import { importProducts } from './import.ts';
import { importProductsOperation } from './operation.ts';
import {
  importPathParameter, listImportsOperation, readImportOperation, recordSchemas,
} from './record-operations.ts';
import { IMPORTS, listImports, readImport } from './records.ts';
import { importSchemas } from './schemas.ts';

export const imports: Feature = {
  routes: [
    keyRoute(
      'POST', `${PRODUCTS}/import`, 'products:write', importProductsOperation, importProducts,
    ),
    keyRoute('GET', IMPORTS, 'changes:read', listImportsOperation, listImports),
    keyRoute('GET', `${IMPORTS}/{import_id}`, 'changes:read', readImportOperation, readImport),
  ],
  schemas: { ...importSchemas, ...recordSchemas },
  pathParameters: [importPathParameter],
};
