/** The API reference: an index of operations, a page per operation, and the errors. */
import type { Tag } from '../../../api/description/operation.ts';
import { PRODUCTS, type Route } from '../../../api/route.ts';
import { AppError } from '../../../domain/error.ts';
import type { Reply } from '../../../http/response/reply.ts';
import {
  DESCRIPTION, KEY_DESCRIPTION, listPathParameters, listTags,
} from '../../openapi/openapi.ts';
import { describeProblems } from '../../openapi/problem-responses.ts';
import { copyable, table } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';
import { findRoute, KEY_VARIABLE } from '../html/curl.ts';
import { renderContents, renderOperation, schemasOf } from './operation-view.ts';
import { renderProse, renderShapes } from './schema-view.ts';

/** GET /portal/api: 200 */
export async function showApi(request: PageRequest, portal: Portal): Promise<Reply> {
  const { routes } = portal.description;
  const { base, link, prefix } = request;
  return renderPage(request, portal, {
    title: 'API',
    content: html`${renderProse(DESCRIPTION)}
      <p>The API is at <code>${base.url}</code>. Send a ${request.may('owner')
        ? html`<a href="${link('/keys')}">key</a>` : 'key'} with every request, in the
        <code>x-api-key</code> header:
        ${KEY_DESCRIPTION}</p>
      ${copyable('first', `${KEY_VARIABLE}=spk_…\n`
        + `curl '${base.url}${PRODUCTS}' -H "x-api-key: $${KEY_VARIABLE}"`)}
      <p><a class="button" href="${prefix}${findRoute(portal, 'readOpenApi')?.path}">OpenAPI
        document</a> <a class="button" href="${link('/api/problems')}">Errors</a></p>
      ${listTags(routes).map((tag) => renderGroup(request, tag, routes))}`,
  });
}

/** GET /portal/api/{operation}: 200, 404 */
export async function showOperation(request: PageRequest, portal: Portal): Promise<Reply> {
  const route = findRoute(portal, request.parameters['operation'] ?? '');
  if (!route) throw new AppError('not_found', 'The API has no operation with this name.');
  const isOff = route.isEnabled?.(portal) === false;
  return renderPage(request, portal, {
    title: route.operation.summary,
    content: html`${isOff && html`<div class="notice low"><p>This operation is disabled on this
        server. Its operator can enable it.</p></div>`}
      ${renderOperation(request, portal, route, await readPathValues(request, portal, route))}
      <p><a href="${request.link('/api')}">API reference</a></p>`,
  });
}

/** GET /portal/api/problems: 200 */
export async function showProblems(request: PageRequest, portal: Portal): Promise<Reply> {
  const problems = [...describeProblems()];
  const schemas = problems.flatMap(([, { content = {} }]) => schemasOf(content));
  return renderPage(request, portal, {
    title: 'API errors',
    content: html`<h2>Error format</h2>
      ${renderShapes(portal.description.schemas, schemas, new Set())}
      ${problems.map(([status, { description, content }]) => html`
        <h2 id="status-${status}">${status}</h2>
        <p>${description}</p>
        ${content && renderContents(content)}`)}
      <p><a href="${request.link('/api')}">API reference</a></p>`,
  });
}

function renderGroup({ link }: PageRequest, tag: Tag, routes: readonly Route[]): Html {
  const { name, description } = tag;
  return html`<h2>${name}</h2>
    <p>${description}</p>
    ${table({
    caption: name,
    columns: ['Operation', 'Request', 'Scope'],
    rows: routes.filter(({ operation }) => operation.tag === tag)
      .map(({ operation: { id, summary }, method, path, scope }) => [
        html`<a href="${link(`/api/${id}`)}">${summary}</a>`,
        html`<span class="tag">${method}</span> <code>${path}</code>`,
        scope === undefined ? 'No key' : html`<code>${scope}</code>`,
      ]),
  })}`;
}

/** Path parameters for the curl command; one that reads gets an id that exists in the shop. */
async function readPathValues(
  { account: { sellerId } }: PageRequest, portal: Portal, { method, path, isEnabled }: Route,
): Promise<ReadonlyMap<string, unknown>> {
  const { description: { pathParameters }, store } = portal;
  // A copied command that writes must not change a real product.
  const isReal = method === 'GET' && isEnabled?.(portal) !== false;
  return new Map(await Promise.all(listPathParameters(path, pathParameters).map(async (one) => {
    const sample = isReal ? await one.findSample(store, sellerId) : undefined;
    return [one.name, sample ?? one.example] as const;
  })));
}
