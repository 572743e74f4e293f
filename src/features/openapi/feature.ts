/** Serves the OpenAPI document, which is generated from the route table. */
import { hash } from 'node:crypto';
import { serverTag } from '../../api/health.ts';
import type { Operation } from '../../api/description/operation.ts';
import { objectOf } from '../../api/description/schema.ts';
import { JSON_TYPE } from '../../api/media-types.ts';
import { openRoute, type OpenRequest, type Services } from '../../api/route.ts';
import { parseText } from '../../domain/arguments.ts';
import { AppError } from '../../domain/error.ts';
import type { Feature } from '../../feature.ts';
import { isNoneMatch } from '../../http/response/conditional.ts';
import type { Reply } from '../../http/response/reply.ts';
import { type Contact, describeApi, type ServerDescription } from './openapi.ts';

const readOpenApiOperation: Operation = {
  id: 'readOpenApi',
  tag: serverTag,
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
            servers: { type: 'array', items: { type: 'object' } },
            tags: { type: 'array', items: { type: 'object' } },
            paths: { type: 'object' },
            webhooks: { type: 'object' },
            components: { type: 'object' },
          }, ['openapi', 'info', 'paths']),
          example: { openapi: '3.1.0', info: { title: '...', version: '...' }, paths: {} },
        },
      },
    },
    304: { description: 'The document has not changed.', headers: ['DocumentTag'] },
  },
};

/** Options of the OpenAPI document. */
export interface OpenApiOptions {
  /** Where clients find this server: the document names it. */
  readonly baseUrl?: string;
  /** An e-mail address or a URL for integrators, which the OpenAPI document names. */
  readonly contact?: string | undefined;
}

export const openapi: Feature<OpenApiOptions, OpenApiOptions> = {
  routes: [openRoute('/api/v1/openapi.json', readOpenApiOperation, readOpenApi)],
  connect({ instances }, { baseUrl, contact }) {
    instances.set(serverDescription, { baseUrl, contact: parseContact(contact) });
    return undefined;
  },
  server: {
    settings: {
      contact: {
        value: 'TEXT', help: 'e-mail address or URL for integrators, in the OpenAPI document',
        isSetting: true,
      },
    },
    async load(settings) {
      const contact = settings.readText('contact');
      parseContact(contact); // before anything starts
      return { start: () => ({ options: { contact } }) };
    },
  },
  embed: { options: { contact: parseText } },
};

/** @throws AppError `invalid_data` */
function parseContact(text: string | undefined): Contact | undefined {
  if (text === undefined) return undefined;
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return { url: text };
  if (/^[^\s@]+@[^\s@]+$/.test(text)) return { email: text };
  throw new AppError(
    'invalid_data', `The contact "${text}" is neither an e-mail address nor an http(s) URL.`,
  );
}

function serverDescription(): ServerDescription {
  return {};
}

/** GET /api/v1/openapi.json: 200, 304 */
async function readOpenApi(
  { headers, prefix }: OpenRequest, { instances, basePath }: Services,
): Promise<Reply> {
  const reply = instances.get(prefix === basePath ? ownDocument : mountedDocument);
  const { 'cache-control': cacheControl = '', etag = '' } = reply.headers;
  if (!isNoneMatch(headers['if-none-match'], etag)) return reply;
  return { status: 304, headers: { 'cache-control': cacheControl, etag } };
}

/** Built once per app: the route needs no key, so requests must not hash or compress it again. */
const renderDocument = (server: ServerDescription) => (
  { description, instances }: Services,
): Reply => {
  const text = describeApi(description, { ...instances.get(serverDescription), ...server });
  const etag = `"${hash('sha256', text, 'base64url')}"`;
  return {
    status: 200,
    headers: { 'content-type': JSON_TYPE, 'cache-control': 'public, max-age=300', etag },
    body: Buffer.from(text), // a Buffer, so that its compressed form is cached too
  };
};
const ownDocument = renderDocument({});
/** A shop can be mounted at several paths: the URL of the server is relative to the document's. */
const mountedDocument = renderDocument({ baseUrl: '../..' });
