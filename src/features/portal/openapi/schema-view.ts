/** Renders JSON Schemas (members, types, limits) and Markdown descriptions. */
import type { Schema as AnySchema } from '../../../domain/validation.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { table } from '../html/elements.ts';

type Limit = 'minimum' | 'maximum' | 'exclusiveMaximum' | 'minLength' | 'maxLength' | 'minItems'
  | 'maxItems';

/** The subset of JSON Schema that the API description uses. */
interface Schema extends Readonly<Partial<Record<Limit, number>>> {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Schemas;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  /** The schema of each line of a text. */
  readonly contentSchema?: Schema;
}

type Schemas = Readonly<Record<string, Schema>>;

export function toSchema(schema: AnySchema): Schema {
  return schema as Schema; // routes and validators use only these members, with these types
}

/** The last segment of the reference. */
function nameOf({ $ref = '' }: Schema): string {
  return $ref.split('/').at(-1) ?? '';
}

const NUMBERS = new Intl.NumberFormat('en');

/** The type in words; a named type is a link to its table. */
export function describeType(schema: Schema): Content {
  const { $ref, type, items, enum: values, format, contentSchema, anyOf = schema.oneOf } = schema;
  if ($ref !== undefined) {
    return html`<a href="#${idOf(nameOf(schema))}">${nameOf(schema)}</a>`;
  }
  if (contentSchema) return html`lines of ${describeType(contentSchema)}`;
  if (anyOf) return join(anyOf.map(describeType));
  const names = [type ?? []].flat();
  if (items) {
    const otherNames = names.filter((name) => name !== 'array');
    return join([html`array of ${describeType(items)}`, ...otherNames]);
  }
  // A description that is a list already names the values.
  const isListed = schema.description?.startsWith('- ') === true;
  if (values && !isListed) return join(values.map((value) => html`<code>${String(value)}</code>`));
  return `${names.join(' or ')}${format === undefined ? '' : ` (${format})`}`;
}

/** The limits on a value, in words. */
function listLimits(schema: Schema): readonly Content[] {
  const { exclusiveMaximum, pattern, default: fallback, const: only } = schema;
  return [
    formatRange(schema.minimum, schema.maximum),
    exclusiveMaximum !== undefined && `below ${NUMBERS.format(exclusiveMaximum)}`,
    formatCount(schema.minLength, schema.maxLength, 'characters'),
    formatCount(schema.minItems, schema.maxItems, 'items'),
    pattern !== undefined && html`matches <code>${pattern}</code>`,
    only !== undefined && html`always <code>${String(only)}</code>`,
    fallback !== undefined && html`default <code>${String(fallback)}</code>`,
  ].filter((part) => part !== false && part !== undefined);
}

/** Tables of all referenced schemas that are not yet in `described`, to which they are added. */
export function renderShapes(
  definitions: Readonly<Record<string, AnySchema>>, roots: readonly AnySchema[],
  described: Set<string>,
): Html {
  const schemas = definitions as Schemas; // as in `toSchema`
  const names = roots.flatMap((root) => listNames(toSchema(root), schemas, described));
  return html`${names.map((name) => html`
    <section aria-labelledby="${idOf(name)}"><h3 id="${idOf(name)}">${name}</h3>
      ${renderShape(name, schemas[name] ?? {})}</section>`)}`;
}

function idOf(name: string): string {
  return `schema-${name}`;
}

function join(parts: readonly Content[]): Html {
  return html`${parts.map((part, index) => html`${index > 0 && ' or '}${part}`)}`;
}

function formatRange(least: number | undefined, most: number | undefined): string | undefined {
  // Every JSON number has this limit, so do not show it.
  const end = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (end === undefined) return least === undefined ? undefined : `from ${NUMBERS.format(least)}`;
  return `${least === undefined ? 'up' : NUMBERS.format(least)} to ${NUMBERS.format(end)}`;
}

function formatCount(
  least: number | undefined, most: number | undefined, unit: string,
): string | undefined {
  if (most === undefined) return least === undefined ? undefined : 'not empty';
  return `${formatRange(least, most)} ${unit}`;
}

/** In the order in which they are first referenced. */
function listNames(
  schema: Schema, schemas: Readonly<Record<string, Schema>>, described: Set<string>,
): string[] {
  const { $ref, properties = {}, items, anyOf = [], oneOf = [], contentSchema } = schema;
  const parts = [
    ...Object.values(properties), ...anyOf, ...oneOf, ...[items ?? []].flat(),
    ...[contentSchema ?? []].flat(),
  ];
  const name = $ref === undefined ? undefined : nameOf(schema);
  if (name === undefined) return parts.flatMap((part) => listNames(part, schemas, described));
  if (described.has(name)) return [];
  described.add(name);
  return [name, ...listNames(schemas[name] ?? {}, schemas, described)];
}

function renderShape(name: string, schema: Schema): Html {
  const { description, properties, anyOf = schema.oneOf } = schema;
  return html`${description !== undefined && renderProse(description)}
    ${properties && renderMembers(name, schema)}
    ${anyOf && html`<p>One of these:</p><ul>${anyOf.map((variant, index) => html`
      <li>${variant.properties ? renderMembers(`${name}, variant ${index + 1}`, variant)
    : describeType(variant)}</li>`)}
    </ul>`}`;
}

function renderMembers(name: string, schema: Schema): Html {
  return table({
    caption: `Members of ${name}`,
    columns: ['Member', 'Type', 'Description'],
    rows: listMembers(schema).map(({ path, isRequired, member }) => [
      html`<code>${path}</code>${!isRequired && html`
        <span class="quiet small">optional</span>`}`,
      html`<span class="nowrap">${describeType(member)}</span>`,
      renderMeaning(member),
    ]),
    empty: html`<p>No members.</p>`,
  });
}

/** The description and the limits. */
export function renderMeaning(schema: Schema, description = schema.description): Html {
  const limits = listLimits(schema).map((limit, index) => html`${index > 0 && ', '}${limit}`);
  return html`${description !== undefined && renderProse(description)}${limits.length > 0 && html`
    <p class="quiet small">${limits}</p>`}`;
}

/** Lists members of unnamed objects in place, with a path. */
function listMembers({ properties = {}, required = [] }: Schema, prefix = ''): readonly {
  readonly path: string; readonly isRequired: boolean; readonly member: Schema;
}[] {
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const own = { path, isRequired: required.includes(name), member };
    return [own, ...listMembers(member, `${path}.`)];
  });
}

const ITEM = '- ';

/**
 * Renders the Markdown subset of the API description: paragraphs, lists, `code` and *emphasis*.
 * Everything else is escaped text.
 */
export function renderProse(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => {
    const lines = paragraph.split('\n');
    const items = lines.filter((line) => line.startsWith(ITEM));
    const words = lines.filter((line) => !line.startsWith(ITEM)).join(' ');
    return html`${words !== '' && html`<p>${renderSpans(words)}</p>`}${items.length > 0 && html`
      <ul>${items.map((item) => html`<li>${renderSpans(item.slice(ITEM.length))}</li>`)}</ul>`}`;
  })}`;
}

function renderSpans(text: string): Content {
  return text.split(/(`[^`]*`|\*\w+\*)/).map((part, index) => {
    if (index % 2 === 0) return part;
    const inner = part.slice(1, -1);
    return part.startsWith('`') ? html`<code>${inner}</code>` : html`<em>${inner}</em>`;
  });
}
