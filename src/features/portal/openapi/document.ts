/**
 * The OpenAPI document of this server, as its pages need it: what they say is read from there and
 * from nowhere else, so it is what the routes do.
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
  /** Of a text whose lines are of a schema of their own. */
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

/** Bodies by their media type. */
type Content = Readonly<Record<string, {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}>>;

interface Reference {
  readonly $ref: string;
}

interface Header {
  readonly description: string;
}

export interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Reference>>;
  readonly content?: Content;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Empty where no key is needed. */
  readonly security: readonly { readonly apiKey: readonly string[] }[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer | Reference>>;
}

interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly headers: Readonly<Record<string, Header>>;
  readonly responses: Readonly<Record<string, Answer>>;
  readonly securitySchemes: { readonly apiKey: { readonly description: string } };
}

interface Document {
  readonly info: {
    readonly title: string; readonly version: string; readonly description: string;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: Components;
}

/** An operation where it stands, with what is shared with others put in its place. */
export interface Operation {
  readonly id: string;
  /** In capital letters. */
  readonly method: string;
  /** With its parameters in braces, below what stands before every path. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** Whether HEAD is answered at the path, too. */
  readonly hasHead: boolean;
  /** What the key may have to do; undefined where no key is needed. */
  readonly scope: string | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: DescribedOperation['requestBody'];
  /** By status. */
  readonly answers: readonly (readonly [status: string, answer: Answer])[];
}

export interface ApiDocument {
  readonly info: Document['info'];
  readonly components: Components;
  readonly operations: readonly Operation[];
}

/** The document of an app: read it as `instances.get(readDocument)`, which parses it once. */
export function readDocument(
  { description, prefix }: Pick<Services, 'description' | 'prefix'>,
): ApiDocument {
  // The cast: the document is made so (src/features/openapi/openapi.ts).
  const { info, components, paths } = JSON.parse(describeApi(description, prefix)) as Document;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    readPath(path, item, components));
  return { info, components, operations };
}

/** The last part of a reference. */
export function nameOf({ $ref = '' }: { readonly $ref?: string }): string {
  return $ref.split('/').at(-1) ?? '';
}

function readPath(
  path: string, item: Readonly<Record<string, unknown>>, components: Components,
): Operation[] {
  const { parameters = [], head, ...methods } = item;
  return Object.entries(methods).map(([method, described]) => {
    // The casts: all else that stands at a path are its operations.
    const operation = described as DescribedOperation;
    const shared = parameters as readonly Parameter[];
    const own = (operation.parameters ?? []).map((parameter) => 'name' in parameter
      ? parameter : components.parameters[nameOf(parameter)]);
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      summary: operation.summary,
      description: operation.description,
      hasHead: method === 'get' && head !== undefined,
      scope: operation.security[0]?.apiKey[0],
      parameters: [...shared, ...own].filter((parameter) => parameter !== undefined),
      body: operation.requestBody,
      answers: readAnswers(operation, components),
    };
  });
}

function readAnswers(
  { responses }: DescribedOperation, components: Components,
): Operation['answers'] {
  return Object.entries(responses).flatMap(([status, response]) => {
    const answer = '$ref' in response ? components.responses[nameOf(response)] : response;
    return answer ? [[status, answer] as const] : [];
  });
}
