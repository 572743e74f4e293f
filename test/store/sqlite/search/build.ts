/** A process that only builds the projection of a folder, for a test that kills it. */
import { join } from 'node:path';
import { openCatalogue } from '../../../../src/store/sqlite/search/catalogue-reader.ts';
import { Projection } from '../../../../src/store/sqlite/search/projection.ts';
import { openProjectionFile } from '../../../../src/store/sqlite/search/projection-file.ts';

const [, , folder = ''] = process.argv;
const catalogue = openCatalogue(join(folder, 'catalogue.db'));
const projection = new Projection(openProjectionFile(join(folder, 'search.db')), catalogue);
const seller = catalogue.findNextSeller(undefined);
while (seller) projection.step(seller);
