/** Serves the OpenAPI document, which is generated from the route table. */
import { createHash } from 'node:crypto';
import type { Operation } from '../../api/description/operation.ts';
import { objectOf } from '../../api/description/schema.ts';
import { JSON_TYPE } from '../../api/media-types.ts';
import { openRoute, type OpenRequest, type Services } from '../../api/route.ts';
import type { Feature } from '../../feature.ts';
import { isNoneMatch } from '../../http/response/conditional.ts';
import type { Reply } from '../../http/response/reply.ts';
import { describeApi } from './openapi.ts';

const readOpenApiOperation: Operation = {
  id: 'readOpenApi',
  summary: 'Read this document',
  description: 'OpenAPI 3.1, generated from the route table. Needs no key.',
  requestHeaders: ['IfNoneMatch'],
  responses: {
    200: {
      description: 'The document.',
      headers: ['DocumentTag'],
      content: {
        [JSON_TYPE]: {
          schema: objectOf({
            openapi: { type: 'string', pattern: '^3\\.1\\.' },
            info: { type: 'object' },
            servers: { type: 'array' },
            paths: { type: 'object' },
            components: { type: 'object' },
          }, ['openapi', 'info', 'paths']),
          example: { openapi: '3.1.0', info: { title: '...', version: '...' }, paths: {} },
        },
      },
    },
    304: { description: 'The document has not changed.', headers: ['DocumentTag'] },
  },
};

export const openapi: Feature = {
  routes: [openRoute('/api/v1/openapi.json', readOpenApiOperation, readOpenApi)],
};

/** GET /api/v1/openapi.json: 200, 304 */
async function readOpenApi(
  { headers, prefix }: OpenRequest, { instances, basePath }: Services,
): Promise<Reply> {
  const reply = instances.get(prefix === basePath ? documentReply : mountedDocumentReply);
  const { 'cache-control': cacheControl = '', etag = '' } = reply.headers;
  if (!isNoneMatch(headers['if-none-match'], etag)) return reply;
  return { status: 304, headers: { 'cache-control': cacheControl, etag } };
}

/** Built once per app: the route needs no key, so requests must not hash or compress it again. */
function documentReply({ description, basePath }: Services): Reply {
  return renderDocument(describeApi(description, basePath));
}

/** Below a framework's mount path, which a document for all requests names relative to its own. */
function mountedDocumentReply({ description }: Services): Reply {
  return renderDocument(describeApi(description, '../..'));
}

function renderDocument(text: string): Reply {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  return {
    status: 200,
    headers: { 'content-type': JSON_TYPE, 'cache-control': 'public, max-age=300', etag },
    body: Buffer.from(text), // a Buffer, so that its compressed form is cached too
  };
}
