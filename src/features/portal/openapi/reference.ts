/**
 * The API reference: an index of operations, the errors, and a page per operation with parameters,
 * body, responses and a curl command. It is generated from the routes, like the OpenAPI document.
 */
import { requestFields, responseFields } from '../../../api/description/header-fields.ts';
import type { OperationResponse, Tag } from '../../../api/description/operation.ts';
import { PRODUCTS, type Route } from '../../../api/route.ts';
import { AppError } from '../../../domain/error.ts';
import {
  DESCRIPTION, KEY_DESCRIPTION, listFields, listPathParameters, listTags, shownName,
} from '../../openapi/openapi.ts';
import { describeProblems, listProblems } from '../../openapi/problem-responses.ts';
import {
  type Contents, findRoute, formatCurl, formatExamples, KEY_VARIABLE,
} from '../html/curl.ts';
import { copyable, table } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type { PageRequest, Portal, Show } from '../route.ts';
import { describeType, renderMeaning, renderProse, renderShapes, toSchema } from './schema-view.ts';

/** GET /portal/api: 200 */
export const showApi: Show = async (request, portal) => {
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
};

/** GET /portal/api/{operation}: 200, 404 */
export const showOperation: Show = async (request, portal) => {
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
};

/** GET /portal/api/problems: 200 */
export const showProblems: Show = async (request, portal) => {
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
};

function renderGroup({ link }: PageRequest, tag: Tag, routes: readonly Route[]): Html {
  const { name, description } = tag;
  return html`<h2>${name}</h2>
    <p>${description}</p>
    ${table({
    caption: name,
    columns: ['Operation', 'Request', 'Scope'],
    rows: routes.filter(({ operation }) => operation.tag === tag)
      .map(({ operation: { id, summary }, method, path, scopes }) => [
        html`<a href="${link(`/api/${id}`)}">${summary}</a>`,
        html`<span class="tag">${method}</span> <code>${path}</code>`,
        scopes === undefined ? 'No key' : renderScopes(scopes),
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
  const parameters = listPathParameters(path, pathParameters);
  return new Map(await Promise.all(parameters.map(async (parameter) => {
    const sample = isReal ? await parameter.findSample(store, sellerId) : undefined;
    return [parameter.name, sample ?? parameter.example] as const;
  })));
}

/** @param values Path parameters of the curl command, by name. */
function renderOperation(
  request: PageRequest, portal: Portal, route: Route, values: ReadonlyMap<string, unknown>,
): Html {
  const { method, path, scopes, operation: { description, request: body, responses } } = route;
  const described = new Set<string>(); // schemas already on the page
  const renderBodies = (content: Contents): Html => html`${renderContents(content)}
    ${renderShapes(portal.description.schemas, schemasOf(content), described)}`;
  return html`<p><span class="tag">${method}</span> <code>${path}</code></p>
    ${renderProse(description)}
    ${method === 'GET' && html`<p>HEAD is also supported and returns only the headers.</p>`}
    <h2>Try it</h2>
    ${copyable('curl', formatCurl(route, request.base.url, `$${KEY_VARIABLE}`, values))}
    ${renderKeyNote(request, scopes)}
    <h2>Parameters</h2>
    ${renderParameters(route, portal)}
    ${body && html`<h2>Request body</h2>
      ${route.operation.isRequestOptional && html`<p>Optional.</p>`}
      ${renderBodies(body)}`}
    <h2>Responses</h2>
    ${Object.entries(responses).map(([status, response]) => html`<h3>${status}</h3>
      ${renderProse(response.description)}
      ${response.content && renderBodies(response.content)}
      ${response.alternatives && html`<p>Or, if the request asks for it:</p>
        ${renderBodies(response.alternatives)}`}
      ${renderFields(route, response)}`)}
    ${renderErrors(request, listProblems(route))}`;
}

/** Bodies with their types and examples. */
function renderContents(contents: Contents): Content {
  return Object.entries(contents).map(([mediaType, content]) => {
    const schema = toSchema(content.schema);
    const { description } = schema.$ref === undefined ? schema : {};
    return html`<p><code>${mediaType}</code>: ${describeType(schema)}</p>
      ${description !== undefined && renderProse(description)}
      ${formatExamples(content, 2).map((example) => html`<pre tabindex="0">${example}</pre>`)}`;
  });
}

function schemasOf(content: Contents) {
  return Object.values(content).map(({ schema }) => schema);
}

function renderScopes(scopes: readonly string[]): Content {
  return scopes.map((scope, n) => html`${n > 0 && ' or '}<code>${scope}</code>`);
}

function renderKeyNote(
  { link, may }: PageRequest, scopes: readonly string[] | undefined,
): Html {
  if (scopes === undefined) return html`<p>No key is required.</p>`;
  return html`<p>First set a key with the scope ${renderScopes(scopes)} in your shell:
    <code>${KEY_VARIABLE}=spk_…</code>${may('owner') && html` (<a
    href="${link('/keys/new')}">create a key</a>)`}. Use keys
    on servers only: requests from web pages that carry a key are rejected.</p>`;
}

function renderParameters(
  { path, query, operation: { requestHeaders = [] } }: Route, { description: api }: Portal,
): Html {
  const parameters = [
    ...listPathParameters(path, api.pathParameters)
      .map((parameter) => ({ ...parameter, place: 'path' })),
    ...Object.entries(query).map(([name, parameter]) =>
      ({ ...parameter, name: shownName(name), place: 'query' })),
    ...requestHeaders.map((name) => requestFields[name])
      .map(({ field, ...parameter }) => ({ ...parameter, name: field, place: 'header' })),
  ];
  return table({
    caption: 'Parameters',
    columns: ['Name', 'In', 'Type', 'Default', 'Description'],
    rows: parameters.map(({ name, place, description, schema, example }) => {
      const { default: fallback, ...rest } = toSchema(schema);
      return [
        html`<code>${name}</code>${place === 'path' && html`
          <span class="quiet small">required</span>`}`,
        html`<span class="nowrap">${place}</span>`,
        html`${describeType(rest)}${rest.items && ', comma-separated'}`,
        fallback !== undefined && html`<code>${String(fallback)}</code>`,
        html`${renderMeaning(rest, description)}
          <p class="quiet small">Example: <code>${formatExample(example)}</code></p>`,
      ];
    }),
    empty: html`<p>None.</p>`,
  });
}

function renderFields(route: Route, response: OperationResponse): Html {
  const fields = listFields(route, response).map((name) => responseFields[name]);
  return html`<details><summary>Response headers</summary><dl>${
    fields.map(({ field, description }) => html`<dt><code>${field}</code></dt>
      <dd>${renderProse(description)}</dd>`)}</dl></details>`;
}

function renderErrors({ link }: PageRequest, statuses: readonly number[]): Html {
  const problems = describeProblems();
  return html`<h2>Errors</h2>
    <p>Errors are <a href="${link('/api/problems')}">problem documents</a>.</p>
    ${table({
    caption: 'Errors',
    columns: ['Status', 'When'],
    rows: [...new Set(statuses)].sort().map((status) => [
      html`<a href="${link('/api/problems')}#status-${status}">${status}</a>`,
      problems.get(status)?.description,
    ]),
  })}`;
}

function formatExample(example: unknown): string {
  const isObject = typeof example === 'object' && !Array.isArray(example);
  return isObject ? JSON.stringify(example) : String(example);
}
