/** The history of a catalogue: its change feed, and the ledger of stock movements. */
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
