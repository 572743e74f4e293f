/** Imports of products from files of any length, the records of all imports, and reverts. */
import { keyRoute, PRODUCTS } from '../../api/route.ts';
import type { Feature } from '../../feature.ts';
import { importProducts, importProductsOperation, importSchemas } from './import.ts';
import {
  importPathParameter, IMPORTS, listImports, listImportsOperation, readImport, readImportOperation,
  recordSchemas,
} from './records.ts';
import { revertChanges, revertOperation, REVERTS, revertSchemas } from './revert.ts';

export const imports: Feature = {
  routes: [
    keyRoute(
      'POST', `${PRODUCTS}/import`, ['products:write', 'prices:write'], importProductsOperation,
      importProducts,
    ),
    keyRoute('GET', IMPORTS, 'changes:read', listImportsOperation, listImports),
    keyRoute('GET', `${IMPORTS}/{import_id}`, 'changes:read', readImportOperation, readImport),
    keyRoute('POST', REVERTS, 'products:write', revertOperation, revertChanges),
  ],
  schemas: { ...importSchemas, ...recordSchemas, ...revertSchemas },
  pathParameters: [importPathParameter],
};
