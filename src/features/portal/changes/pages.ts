/** The pages of the change feed: changes, live ones, and stock movements. */
import { type PortalPart, viewerGet } from '../page-routes.ts';
import { CHANGE_FIELDS, followLive, showChanges } from './changes.ts';
import { exportMovementList, showMovements } from './movements.ts';

export const changePages: PortalPart = {
  routes: [
    { ...viewerGet, path: '/changes', section: 'Changes', handle: showChanges },
    { ...viewerGet, path: '/live', handle: followLive },
    { ...viewerGet, path: '/movements', handle: showMovements },
    { ...viewerGet, path: '/movements/export', handle: exportMovementList },
  ],
  filters: { changes: () => CHANGE_FIELDS },
};
