/** A process that builds some rows of a folder's projection, and is then killed by its test. */
import { join } from 'node:path';
import { openCatalogue } from '../../../../src/store/sqlite/search/catalogue-reader.ts';
import { Projection } from '../../../../src/store/sqlite/search/projection.ts';
import { openProjectionFile } from '../../../../src/store/sqlite/search/projection-file.ts';

const [, , folder = '', limit = ''] = process.argv;
const catalogue = openCatalogue(join(folder, 'catalogue.db'));
const search = openProjectionFile({ search: join(folder, 'search.db'), openFiles: [] });
const projection = new Projection(search, catalogue);
const seller = catalogue.findNextSeller(undefined);
while (seller && (projection.find(seller.id)?.rows ?? 0) < Number(limit)) projection.step(seller);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
