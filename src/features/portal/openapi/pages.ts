/** The pages of the API reference. */
import { type PortalPart, viewerGet } from '../page-routes.ts';
import { showApi, showOperation, showProblems } from './reference.ts';

export const apiPages: PortalPart = {
  routes: [
    { ...viewerGet, path: '/api', section: 'API', handle: showApi },
    { ...viewerGet, path: '/api/problems', handle: showProblems },
    { ...viewerGet, path: '/api/{operation}', handle: showOperation },
  ],
};
