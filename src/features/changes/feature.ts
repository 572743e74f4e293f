/** The history of a catalogue: the change feed and the stock ledger. */
import { keyRoute } from '../../api/route.ts';
import type { Feature } from '../../feature.ts';
import { listChanges } from './changes.ts';
import { listMovements, MOVEMENTS } from './movements.ts';
import { historySchemas, listChangesOperation, listMovementsOperation } from './operations.ts';

export const changes: Feature = {
  routes: [
    keyRoute('GET', MOVEMENTS, 'changes:read', listMovementsOperation, listMovements),
    keyRoute('GET', '/api/v1/changes', 'changes:read', listChangesOperation, listChanges),
  ],
  schemas: historySchemas,
};
