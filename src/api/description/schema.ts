/** Builds the JSON Schemas (2020-12) of the OpenAPI document, from validators if there are any. */
import { ISSUES_PER_RESPONSE_LIMIT } from '../../domain/limits.ts';
import type { Schema, Validator } from '../../domain/validation.ts';
import { joinNames } from '../../domain/wording.ts';
import { formatProblemType } from '../../http/response/problem.ts';
import { CSV_TYPE, JSON_TYPE, NDJSON_TYPE } from '../media-types.ts';
import type { OperationResponse } from './operation.ts';

/** A JSON body with an example. `name`: its component schema. */
export function jsonOf(name: string, example: unknown) {
  return { [JSON_TYPE]: { schema: refer(name), example } };
}

/** A response that is always JSON. */
export function respondJson(description: string, name: string, example: unknown) {
  return { description, content: jsonOf(name, example) };
}

/** Refers to a component schema of the document. */
export function refer(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** NDJSON whose lines have this schema, with example lines. */
export function linesOf(name: string, ...lines: readonly object[]) {
  return {
    schema: {
      type: 'string', contentMediaType: NDJSON_TYPE, contentSchema: refer(name),
      description: 'One JSON document on each line.',
    },
    example: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  };
}

/** CSV, with one example row. */
export function tableOf(row: Readonly<Record<string, unknown>>, description: string) {
  const table = [Object.keys(row), Object.values(row).map((value) => value ?? '')];
  return {
    schema: {
      type: 'string', contentMediaType: CSV_TYPE,
      description: `RFC 4180, in UTF-8, with a header. ${description}`,
    },
    example: table.map((cells) => `${cells.join(',')}\r\n`).join(''),
  };
}

export const PAGE_OR_EXPORT = 'A page, or an export. With the parameter `end=record` after the '
  + 'media type in `Accept`, an export ends with a record of its number of rows and its position.';

/** A page as JSON; as alternatives all entries as NDJSON or CSV. `entry` is the example. */
export function describeList(
  page: ReturnType<typeof jsonOf>, name: string, entry: Readonly<Record<string, unknown>>,
): OperationResponse {
  return {
    description: PAGE_OR_EXPORT,
    headers: ['Link', 'SellerPosition'],
    content: page,
    alternatives: {
      [NDJSON_TYPE]: linesOf(name, entry),
      [CSV_TYPE]: tableOf(
        entry, 'A value that a spreadsheet would read as a formula gets a leading apostrophe.',
      ),
    },
  };
}

/** Member names for a description. */
export function listNames(members: readonly string[]): string {
  return joinNames(members.map((member) => `\`${member}\``));
}

export const time = { type: 'string', format: 'date-time' };
export const count = { type: 'integer', minimum: 0 };

/** The members of a problem. */
export const problem = {
  type: {
    type: 'string', pattern: `^${formatProblemType('[a-z-]+')}$`,
    description: 'Identifies the kind of problem. The response examples show every type.',
  },
  title: { type: 'string' },
  status: { type: 'integer', minimum: 400, maximum: 599 },
  detail: { type: 'string', description: 'What is wrong, and what to do.' },
  instance: {
    type: 'string', pattern: '^urn:uuid:[0-9a-f-]{36}$',
    description: 'Identifies a server error in the server log.',
  },
  errors: { type: 'array', maxItems: ISSUES_PER_RESPONSE_LIMIT, items: refer('Issue') },
};

/** An object with these properties. All are required unless `required` says otherwise. */
export function objectOf(
  properties: Readonly<Record<string, Schema>>, required = Object.keys(properties),
): Schema {
  return { type: 'object', ...(required.length > 0 && { required }), properties };
}

/** The same for an object that may have no other properties. */
export function closedObjectOf(...members: Parameters<typeof objectOf>): Schema {
  return { ...objectOf(...members), additionalProperties: false };
}

/** The problem that ends a stream early. `summary`: the name of its schema. */
export function describeStreamProblem(summary: string): Schema {
  const description = 'The results until then. Changes already written stay.';
  return objectOf({
    ...problem, summary: { ...refer(summary), description },
  }, ['type', 'title', 'status', 'detail', 'summary']);
}

/**
 * The schemas of members, from their validators. The description names a default, because client
 * generators take a member whose schema has a `default` for one that is always there.
 */
export function describeMembers(
  members: Readonly<Record<string, Pick<Validator<unknown>, 'schema' | 'description'>>>,
): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(members).map(([name, { schema, description }]) => {
    const { default: value, ...rest } = schema;
    const note = value === undefined ? [] : [`Default: \`${String(value)}\`.`];
    const text = [description ?? [], note].flat().join(' ');
    return [name, { ...rest, ...(text !== '' && { description: text }) }];
  }));
}

export function nullable(schema: Schema): Schema {
  return { ...schema, type: [schema['type'], 'null'] };
}

/** An enumeration whose description lists the meaning of each value. */
export function enumOf(meanings: Readonly<Record<string, string>>): Schema {
  const lines = Object.entries(meanings).map(([text, meaning]) => `- \`${text}\`: ${meaning}`);
  return { enum: Object.keys(meanings), description: lines.join('\n') };
}

/** A union of the named object schemas: the value of the member `type` determines which. */
export function unionOf(names: Readonly<Record<string, string>>): Schema {
  return {
    oneOf: [...new Set(Object.values(names))].map(refer),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(Object.entries(names).map(([value, name]) =>
        [value, refer(name)['$ref']])),
    },
  };
}

/** A page: the items under the list's name, and the cursor of the next page. */
export function pageOf(
  list: string, item: Schema, more: Readonly<Record<string, Schema>> = {},
): Schema {
  return objectOf({
    [list]: { type: 'array', items: item },
    ...more,
    next_cursor: {
      type: ['string', 'null'], description: 'The next page\'s `cursor`; null on the last page.',
    },
  });
}
