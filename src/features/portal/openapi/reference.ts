/** The API reference: an index of all operations, a page for each, and the errors. */
import { PRODUCTS, STOCK } from '../../../api/route.ts';
import { AppError } from '../../../domain/error.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { type ApiDocument, KEY_VARIABLE, type Operation, readDocument } from './document.ts';
import { renderContents, renderOperation } from './operation-view.ts';
import { renderProse, renderShapes } from './schema-view.ts';
import { copyable, table } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';

/** By path prefix; the first match counts. */
const GROUPS: readonly (readonly [path: string, name: string])[] = [
  [PRODUCTS, 'Products'], [STOCK, 'Stock'], ['/api/v1/changes', 'Changes'],
  ['/api/v1/webhooks', 'Webhooks'],
  ['', 'About the API'],
];

/** GET /portal/api: 200 */
export async function showApi(request: PageRequest, portal: Portal): Promise<Reply> {
  const document = portal.instances.get(readDocument);
  const { info, components, operations } = document;
  const groups = Map.groupBy(operations, ({ path }) =>
    GROUPS.find(([start]) => path.startsWith(start))?.[1]);
  const { base, link } = request;
  return renderPage(request, portal, {
    title: 'API',
    content: html`${renderProse(info.description)}
      <p>The API is at <code>${base.url}</code>. Send a
        <a href="${link('/keys')}">key</a> with every request, in the <code>x-api-key</code> header:
        ${components.securitySchemes.apiKey.description}</p>
      ${copyable('first', `${KEY_VARIABLE}=spk_…\n`
        + `curl '${base.url}${PRODUCTS}' -H "x-api-key: $${KEY_VARIABLE}"`)}
      <p><a class="button" href="${portal.prefix}${pathOf(document, 'readOpenApi')}">OpenAPI
        document</a> <a class="button" href="${link('/api/problems')}">Errors</a></p>
      ${GROUPS.map(([, name]) => renderGroup(request, name, groups.get(name) ?? []))}`,
  });
}

/** GET /portal/api/{operation}: 200, 404 */
export async function showOperation(request: PageRequest, portal: Portal): Promise<Reply> {
  const document = portal.instances.get(readDocument);
  const { operation: id = '' } = request.parameters;
  const operation = document.operations.find((one) => one.operationId === id);
  if (!operation) throw new AppError('not_found', 'The API has no such operation.');
  const route = portal.description.routes.find((one) => one.operation.id === id);
  const isOff = route?.isEnabled?.(portal) === false;
  // A copied line that writes must not change a product that is sold.
  const values = operation.method === 'GET' && !isOff
    ? await readSamples(request, portal, operation) : new Map<string, string>();
  return renderPage(request, portal, {
    title: operation.summary,
    content: html`${isOff && html`<div class="notice low"><p>This is disabled on this server.
        Its operator can enable it.</p></div>`}
      ${renderOperation(request, document, operation, values)}
      <p><a href="${request.link('/api')}">API reference</a></p>`,
  });
}

/** GET /portal/api/problems: 200 */
export async function showProblems(request: PageRequest, portal: Portal): Promise<Reply> {
  const document = portal.instances.get(readDocument);
  const responses = Object.entries(document.components.responses);
  const [schema] = responses.flatMap(([, { content }]) => Object.values(content ?? {}));
  return renderPage(request, portal, {
    title: 'API errors',
    content: html`<h2>Error format</h2>
      ${schema && renderShapes(document, [schema.schema], new Set())}
      ${responses.map(([status, { description, content }]) => html`
        <h2 id="status-${status}">${status}</h2>
        <p>${description}</p>
        ${content && renderContents(content)}`)}
      <p><a href="${request.link('/api')}">API reference</a></p>`,
  });
}

function renderGroup({ link }: PageRequest, name: string, operations: readonly Operation[]): Html {
  return html`<h2>${name}</h2>
    ${table({
    caption: name,
    columns: ['Operation', 'Request', 'Scope'],
    rows: operations.map(({ operationId, method, path, summary, scope }) => [
      html`<a href="${link(`/api/${operationId}`)}">${summary}</a>`,
      html`<span class="tag">${method}</span> <code>${path}</code>`,
      scope === undefined ? 'No key' : html`<code>${scope}</code>`,
    ]),
  })}`;
}

function pathOf({ operations }: ApiDocument, id: string): string {
  return operations.find(({ operationId }) => operationId === id)?.path ?? '';
}

/** Values that exist in this shop, for the path parameters of an operation. */
async function readSamples(
  { account: { sellerId } }: PageRequest, { description, store }: Portal, { path }: Operation,
): Promise<ReadonlyMap<string, string>> {
  const named = description.pathParameters.filter(({ name }) => path.includes(`{${name}}`));
  const found = await Promise.all(named.map(async (parameter) =>
    [parameter.name, await parameter.findSample(store, sellerId)] as const));
  return new Map(found.flatMap(([name, value]) => value === undefined ? [] : [[name, value]]));
}
