/** Builds the JSON Schemas (2020-12) of the OpenAPI document, from validators if there are any. */
import type { Schema, Validator } from '../../domain/validation.ts';

/** A schema of the document's components. */
export function refer(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** A text whose lines are JSON, each of this schema. */
export function linesOf(name: string): Schema {
  const description = 'One JSON document on each line.';
  return {
    type: 'string', description, contentMediaType: 'application/x-ndjson',
    contentSchema: refer(name),
  };
}

export const time = { type: 'string', format: 'date-time' };
export const count = { type: 'integer', minimum: 0 };

/** An object that has all of these properties, or those that are `required`. */
export function objectOf(
  properties: Readonly<Record<string, Schema>>, required = Object.keys(properties),
): Schema {
  return { type: 'object', ...(required.length > 0 && { required }), properties };
}

/** The schemas of members, from their validators and descriptions. */
export function describeMembers(
  members: Readonly<Record<string, Pick<Validator<unknown>, 'schema' | 'description'>>>,
): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(members).map(([name, { schema, description }]) =>
    [name, { ...schema, ...(description !== undefined && { description }) }]));
}

export function nullable(schema: Schema): Schema {
  return { ...schema, type: [schema['type'], 'null'] };
}

/** One of these texts, and what each means. */
export function enumOf(meanings: Readonly<Record<string, string>>): Schema {
  const lines = Object.entries(meanings).map(([text, meaning]) => `- \`${text}\`: ${meaning}`);
  return { enum: Object.keys(meanings), description: lines.join('\n') };
}

/** A page of a list: its items under the list's name, and where the next page begins. */
export function pageOf(
  list: string, item: Schema, more: Readonly<Record<string, Schema>> = {},
): Schema {
  return objectOf({
    [list]: { type: 'array', items: item },
    ...more,
    next_cursor: {
      type: ['string', 'null'], description: 'The `cursor` of the next page; null on the last one.',
    },
  });
}
