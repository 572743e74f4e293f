/**
 * The OpenAPI document of this server, as the reference pages use it. The pages take everything
 * from this document, so they describe what the routes do. `formatCurl` turns an operation into a
 * line for a POSIX shell (section 2.2.2).
 */
import type { Services } from '../../../api/route.ts';
import { describeApi } from '../../openapi/openapi.ts';

/** The part of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The schema of each line of a text. */
  readonly contentSchema?: Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example: unknown;
}

/** Bodies by media type. */
export type Contents = Readonly<Record<string, {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}>>;

interface Reference {
  readonly $ref: string;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Reference>>;
  readonly content?: Contents;
}

interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Empty if no key is required. */
  readonly security: readonly { readonly apiKey: readonly string[] }[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required: boolean; readonly content: Contents };
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}

interface Document {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, { readonly description: string }>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly securitySchemes: { readonly apiKey: { readonly description: string } };
  };
}

/** An operation whose references are resolved. */
export interface Operation extends Omit<OperationObject, 'parameters' | 'responses' | 'security'> {
  /** In upper case. */
  readonly method: string;
  /** With parameters in braces, after the path of the server. */
  readonly path: string;
  /** Whether the path answers HEAD too. */
  readonly hasHead: boolean;
  /** The scope that the key needs; undefined if no key is required. */
  readonly scope: string | undefined;
  readonly parameters: readonly Parameter[];
  readonly responses: readonly (readonly [status: string, response: ResponseObject])[];
}

export interface ApiDocument extends Omit<Document, 'paths'> {
  readonly operations: readonly Operation[];
}

/** The document of an app: read it as `instances.get(readDocument)`, which parses it once. */
export function readDocument(
  { description, prefix }: Pick<Services, 'description' | 'prefix'>,
): ApiDocument {
  // The cast: src/features/openapi/openapi.ts builds the document like this.
  const { info, components, paths } = JSON.parse(describeApi(description, prefix)) as Document;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    readPath(path, item, components));
  return { info, components, operations };
}

/** The last segment of a reference. */
export function nameOf({ $ref = '' }: { readonly $ref?: string }): string {
  return $ref.split('/').at(-1) ?? '';
}

function readPath(
  path: string, item: Readonly<Record<string, unknown>>, components: Document['components'],
): Operation[] {
  const { parameters: shared = [], head, ...methods } = item;
  return Object.entries(methods).map(([method, operation]) => {
    // The casts: a path item has shared parameters, and otherwise only operations.
    const { security, responses, parameters = [], ...described } = operation as OperationObject;
    const all = [...shared as readonly Parameter[], ...parameters].map((parameter) =>
      'name' in parameter ? parameter : components.parameters[nameOf(parameter)]);
    return {
      ...described,
      method: method.toUpperCase(),
      path,
      hasHead: method === 'get' && head !== undefined,
      scope: security[0]?.apiKey[0],
      parameters: all.filter((parameter) => parameter !== undefined),
      responses: Object.entries(responses).flatMap(([status, response]) => {
        const resolved = '$ref' in response ? components.responses[nameOf(response)] : response;
        return resolved ? [[status, resolved] as const] : [];
      }),
    };
  });
}

/** The shell variable that holds the key, so that no key gets into the history of the shell. */
export const KEY_VARIABLE = 'KEY';

/** A curl line for a server at `url`; `values` are those of path parameters, by name. */
export function formatCurl(
  { method, path, scope, parameters, requestBody }: Operation, url: string,
  values: ReadonlyMap<string, string>,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values.get(name) ?? exampleOf(parameters, name)));
  const [mediaType, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const isPlain = method === 'GET' || (method === 'POST' && content !== undefined);
  const lines = [
    `curl ${isPlain ? '' : `-X ${method} `}${quote(url + filled)}`,
    ...scope === undefined ? [] : [`-H "x-api-key: $${KEY_VARIABLE}"`],
    ...mediaType === undefined ? [] : [`-H ${quote(`content-type: ${mediaType}`)}`],
    ...content === undefined ? [] : [`--data-binary ${quote(formatExample(content.example))}`],
  ];
  return lines.join(' \\\n  ');
}

/** An example as a client sends it: a text as it is, anything else as JSON. */
export function formatExample(example: unknown, indent?: number): string {
  return typeof example === 'string' ? example : JSON.stringify(example, undefined, indent);
}

function exampleOf(parameters: readonly Parameter[], name: string): string {
  return String(parameters.find((parameter) => parameter.name === name)?.example);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
