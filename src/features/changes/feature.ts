/** The history of a catalogue: its change feed, and the ledger of stock movements. */
import { CSV_TYPE, EVENT_STREAM_TYPE, JSON_TYPE, NDJSON_TYPE } from '../../api/media-types.ts';
import { routeDefaults } from '../../api/route.ts';
import type { Feature } from '../../feature.ts';
import { listChanges } from './changes.ts';
import { listMovements, MOVEMENTS } from './movements.ts';
import {
  changesParameters, historySchemas, listChangesOperation, listMovementsOperation,
  movementParameters,
} from './operations.ts';

const get = { ...routeDefaults.get, scope: 'changes:read' } as const;

export const changes: Feature = {
  routes: [
    {
      ...get, path: MOVEMENTS, query: movementParameters,
      produces: [JSON_TYPE, NDJSON_TYPE, CSV_TYPE],
      operation: listMovementsOperation, handle: listMovements,
    },
    {
      ...get, path: '/api/v1/changes', query: changesParameters,
      produces: [JSON_TYPE, EVENT_STREAM_TYPE],
      operation: listChangesOperation, handle: listChanges,
    },
  ],
  schemas: historySchemas,
};
