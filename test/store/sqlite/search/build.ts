/** A process that does nothing but to build the projection of a folder: a test kills it. */
import { join } from 'node:path';
import { History } from '../../../../src/store/sqlite/search/history.ts';
import { Projection } from '../../../../src/store/sqlite/search/projection.ts';
import { openProjectionFile } from '../../../../src/store/sqlite/search/projection-file.ts';

const [, , folder = ''] = process.argv;
const history = new History(join(folder, 'catalogue.db'));
const projection = new Projection(openProjectionFile(join(folder, 'search.db')), history);
const seller = history.nextSeller(0);
while (seller) projection.step(seller);
