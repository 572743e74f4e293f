/**
 * How workbooks (.xlsx) are read; undefined in a server that does not read them.
 * Written by `.toolchain/composition.ts`; in `make minimal`, with fewer rooms.
 */
import type { OpenWorkbook } from './file-options.ts';

export const openWorkbook: OpenWorkbook | undefined = async (file, options) =>
  (await import('./workbook/workbook-reader.ts')).openSheet(file, options);
