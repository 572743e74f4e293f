/** Formats operations as curl lines for a POSIX shell (section 2.2.2). */
import type { Operation } from '../../../api/description/operation.ts';
import type { Route } from '../../../api/route.ts';
import type { Portal } from '../route.ts';

/** Bodies by media type. */
export type Contents = NonNullable<Operation['request']>;

/** The shell variable that holds the key, so that no key gets into the history of the shell. */
export const KEY_VARIABLE = 'KEY';

/** The route of an operation. */
export function findRoute({ description }: Pick<Portal, 'description'>, id: string) {
  return description.routes.find(({ operation }) => operation.id === id);
}

/** `key` is a secret or a shell variable; `values` are those of path parameters, by name. */
export function formatCurl(
  { method, path, scope, operation }: Route, url: string, key: string,
  values: ReadonlyMap<string, unknown> = new Map(),
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values.get(name))));
  const [[mediaType, content] = []] = Object.entries(operation.request ?? {});
  const isPlain = method === 'GET' || (method === 'POST' && content !== undefined);
  return [
    `curl ${isPlain ? '' : `-X ${method} `}${quote(url + filled)}`,
    ...scope === undefined ? [] : [`-H "x-api-key: ${key}"`],
    ...mediaType === undefined ? [] : [`-H ${quote(`content-type: ${mediaType}`)}`],
    ...content === undefined ? [] : [`--data-binary ${quote(formatExamples(content)[0] ?? '')}`],
  ].join(' \\\n  ');
}

/** The examples of a body as a client sends them: a text as it is, anything else as JSON. */
export function formatExamples(content: Contents[string], indent?: number): readonly string[] {
  const examples = 'example' in content ? [content.example]
    : Object.values(content.examples).map(({ value }) => value);
  return examples.map((example) =>
    typeof example === 'string' ? example : JSON.stringify(example, undefined, indent));
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
