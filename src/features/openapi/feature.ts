/** The OpenAPI document: the whole API, described by the routes that answer. */
import { routeDefaults } from '../../api/route.ts';
import type { Feature } from '../../feature.ts';
import { readOpenApi } from './openapi.ts';
import { readOpenApiOperation } from './operation.ts';

export const openapi: Feature = {
  routes: [{
    ...routeDefaults.get, path: '/api/v1/openapi.json', scope: undefined,
    operation: readOpenApiOperation, handle: readOpenApi,
  }],
};
