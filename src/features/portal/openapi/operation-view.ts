/**
 * The reference of one operation: parameters, body, responses and a curl command. It is generated
 * from the route itself, like the OpenAPI document.
 */
import { requestFields, responseFields } from '../../../api/description/header-fields.ts';
import type { OperationResponse } from '../../../api/description/operation.ts';
import type { Route } from '../../../api/route.ts';
import { listFields, listPathParameters } from '../../openapi/openapi.ts';
import { describeProblems, listProblems } from '../../openapi/problem-responses.ts';
import { copyable, table } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import type { PageRequest, Portal } from '../route.ts';
import { type Contents, formatCurl, formatExamples, KEY_VARIABLE } from '../html/curl.ts';
import { describeType, renderMeaning, renderProse, renderShapes, toSchema } from './schema-view.ts';

/** @param values Path parameters of the curl command, by name. */
export function renderOperation(
  request: PageRequest, portal: Portal, route: Route, values: ReadonlyMap<string, unknown>,
): Html {
  const { method, path, scope, operation: { description, request: body, responses } } = route;
  const described = new Set<string>(); // schemas already on the page
  const renderBodies = (content: Contents): Html => html`${renderContents(content)}
    ${renderShapes(portal.description.schemas, schemasOf(content), described)}`;
  return html`<p><span class="tag">${method}</span> <code>${path}</code></p>
    ${renderProse(description)}
    ${method === 'GET' && html`<p>HEAD is also supported and returns only the headers.</p>`}
    <h2>Try it</h2>
    ${copyable('curl', formatCurl(route, request.base.url, `$${KEY_VARIABLE}`, values))}
    ${renderKeyNote(request, scope)}
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
export function renderContents(contents: Contents): Content {
  return Object.entries(contents).map(([mediaType, content]) => {
    const schema = toSchema(content.schema);
    const { description } = schema.$ref === undefined ? schema : {};
    return html`<p><code>${mediaType}</code>: ${describeType(schema)}</p>
      ${description !== undefined && renderProse(description)}
      ${formatExamples(content, 2).map((example) => html`<pre tabindex="0">${example}</pre>`)}`;
  });
}

export function schemasOf(content: Contents) {
  return Object.values(content).map(({ schema }) => schema);
}

function renderKeyNote({ link, may }: PageRequest, scope: string | undefined): Html {
  if (scope === undefined) return html`<p>No key is required.</p>`;
  return html`<p>First set a key with the scope <code>${scope}</code> in your shell:
    <code>${KEY_VARIABLE}=spk_…</code>${may('owner') && html` (<a
    href="${link('/keys/new')}">create a key</a>)`}. Use keys
    on servers only: requests from web pages that carry a key are rejected.</p>`;
}

function renderParameters(
  { path, query, operation: { requestHeaders = [] } }: Route, { description: api }: Portal,
): Html {
  const parameters = [
    ...listPathParameters(path, api.pathParameters).map((one) => ({ ...one, place: 'path' })),
    ...Object.entries(query).map(([name, one]) => ({ ...one, name, place: 'query' })),
    ...requestHeaders.map((name) => requestFields[name])
      .map(({ field, ...one }) => ({ ...one, name: field, place: 'header' })),
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
          <p class="quiet small">Example: <code>${String(example)}</code></p>`,
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
