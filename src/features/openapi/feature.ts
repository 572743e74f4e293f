/** The OpenAPI document: the whole API, described by the routes that answer. */
import type { Operation } from '../../api/description/operation.ts';
import { JSON_TYPE } from '../../api/media-types.ts';
import { routeDefaults } from '../../api/route.ts';
import type { Feature } from '../../feature.ts';
import { readOpenApi } from './openapi.ts';

const readOpenApiOperation: Operation = {
  id: 'readOpenApi',
  summary: 'Read this document',
  description: 'OpenAPI 3.1, made from the routes that answer. Needs no key.',
  requestHeaders: ['IfNoneMatch'],
  answers: {
    200: {
      description: 'The document.',
      headers: ['DocumentTag'],
      content: {
        [JSON_TYPE]: {
          schema: {
            type: 'object', required: ['openapi', 'info', 'paths'],
            properties: {
              openapi: { type: 'string', pattern: '^3\\.1\\.' },
              info: { type: 'object' },
              servers: { type: 'array' },
              paths: { type: 'object' },
              components: { type: 'object' },
            },
          },
          example: { openapi: '3.1.0', info: { title: '...', version: '...' }, paths: {} },
        },
      },
    },
    304: { description: 'The document has not changed.', headers: ['DocumentTag'] },
  },
};

export const openapi: Feature = {
  routes: [{
    ...routeDefaults.get, path: '/api/v1/openapi.json', scope: undefined,
    operation: readOpenApiOperation, handle: readOpenApi,
  }],
};
