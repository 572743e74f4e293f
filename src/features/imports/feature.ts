/** Imports of products from files of any length, the records of all imports, and reverts. */
import { keyRoute, PRODUCTS } from '../../api/route.ts';
import type { Feature } from '../../feature.ts';
import { importProducts } from './import.ts';
import { importProductsOperation } from './operation.ts';
import {
  importPathParameter, listImportsOperation, readImportOperation, recordSchemas,
} from './record-operations.ts';
import { IMPORTS, listImports, readImport } from './records.ts';
import { revertChanges, REVERTS } from './revert.ts';
import { revertOperation, revertSchemas } from './revert-operation.ts';
import { importSchemas } from './schemas.ts';

export const imports: Feature = {
  routes: [
    keyRoute(
      'POST', `${PRODUCTS}/import`, 'products:write', importProductsOperation, importProducts,
    ),
    keyRoute('GET', IMPORTS, 'changes:read', listImportsOperation, listImports),
    keyRoute('GET', `${IMPORTS}/{import_id}`, 'changes:read', readImportOperation, readImport),
    keyRoute('POST', REVERTS, 'products:write', revertOperation, revertChanges),
  ],
  schemas: { ...importSchemas, ...recordSchemas, ...revertSchemas },
  pathParameters: [importPathParameter],
};
