/** The reference of one operation: its parameters, its body, its responses, and a curl line. */
import { copyable, table } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import type { PageRequest } from '../route.ts';
import {
  type ApiDocument, type Contents, formatCurl, formatExample, KEY_VARIABLE, nameOf, type Operation,
  type Parameter, type ResponseObject, type Schema,
} from './document.ts';
import { describeType, renderMeaning, renderProse, renderShapes } from './schema-view.ts';

/** `values` are path parameters of the curl line, by name. */
export function renderOperation(
  request: PageRequest, document: ApiDocument, operation: Operation,
  values: ReadonlyMap<string, string>,
): Html {
  const { method, path, scope, description, hasHead, requestBody: body, responses } = operation;
  const described = new Set<string>(); // schemas that the page has described
  const isError = ([status]: Operation['responses'][number]): boolean => Number(status) >= 400;
  return html`<p><span class="tag">${method}</span> <code>${path}</code></p>
    ${renderProse(description)}
    ${hasHead && html`<p>HEAD is supported as well and returns only the headers.</p>`}
    <h2>Try it</h2>
    ${copyable('curl', formatCurl(operation, request.base.url, values))}
    ${renderKeyNote(request, scope)}
    <h2>Parameters</h2>
    ${renderParameters(operation.parameters)}
    ${body && html`<h2>Request body</h2>
      ${!body.required && html`<p>Optional.</p>`}
      ${renderContents(body.content)}
      ${renderShapes(document, schemasOf(body.content), described)}`}
    <h2>Responses</h2>
    ${responses.filter((response) => !isError(response)).map(([status, response]) =>
  renderResponse(document, status, response, described))}
    ${renderErrors(request, responses.filter(isError))}`;
}

/** Bodies with their examples. */
export function renderContents(content: Contents): Content {
  return Object.entries(content).map(([mediaType, { schema, example, examples }]) => {
    const all = examples ? Object.values(examples).map(({ value }) => value) : [example];
    const { description } = schema.$ref === undefined ? schema : {};
    return html`<p><code>${mediaType}</code>: ${describeType(schema)}</p>
      ${description !== undefined && renderProse(description)}
      ${all.map((one) => html`<pre tabindex="0">${formatExample(one, 2)}</pre>`)}`;
  });
}

function renderKeyNote({ link }: PageRequest, scope: string | undefined): Html {
  if (scope === undefined) return html`<p>No key is required.</p>`;
  return html`<p>First set a key with the scope <code>${scope}</code> in your shell:
    <code>${KEY_VARIABLE}=spk_…</code> (<a href="${link('/keys/new')}">create a key</a>). Use keys
    on servers only: requests from web pages that carry a key are rejected.</p>`;
}

function renderParameters(parameters: readonly Parameter[]): Html {
  return table({
    caption: 'Parameters',
    columns: ['Name', 'In', 'Type', 'Default', 'Description'],
    rows: parameters.map(({ name, in: place, required, description, schema, example }) => {
      const { default: fallback, ...rest } = schema;
      return [
        html`<code>${name}</code>${required && html`
          <span class="quiet small">required</span>`}`,
        html`<span class="nowrap">${place}</span>`,
        html`${describeType(schema)}${schema.items && ', comma-separated'}`,
        fallback !== undefined && html`<code>${String(fallback)}</code>`,
        html`${renderMeaning(rest, description)}
          <p class="quiet small">Example: <code>${String(example)}</code></p>`,
      ];
    }),
    empty: html`<p>None.</p>`,
  });
}

function renderResponse(
  document: ApiDocument, status: string, { description, headers = {}, content }: ResponseObject,
  described: Set<string>,
): Html {
  const fields = Object.entries(headers).map(([name, reference]) => {
    const text = document.components.headers[nameOf(reference)]?.description ?? '';
    return html`<dt><code>${name}</code></dt><dd>${renderProse(text)}</dd>`;
  });
  return html`<h3>${status}</h3>
    ${renderProse(description)}
    ${content && renderContents(content)}
    <details><summary>Response headers</summary><dl>${fields}</dl></details>
    ${content && renderShapes(document, schemasOf(content), described)}`;
}

function renderErrors({ link }: PageRequest, responses: Operation['responses']): Html {
  return html`<h2>Errors</h2>
    <p>Errors are <a href="${link('/api/problems')}">problem documents</a>.</p>
    ${table({
    caption: 'Errors',
    columns: ['Status', 'When'],
    rows: responses.map(([status, { description }]) => [
      html`<a href="${link('/api/problems')}#status-${status}">${status}</a>`,
      description,
    ]),
  })}`;
}

function schemasOf(content: Contents): readonly Schema[] {
  return Object.values(content).map(({ schema }) => schema);
}
