/** Formats operations as curl commands for a POSIX shell (section 2.2.2). */
import type { Operation } from '../../../api/description/operation.ts';
import type { Route } from '../../../api/route.ts';
import type { Portal } from '../route.ts';

/** Bodies by media type. */
export type Contents = NonNullable<Operation['request']>;

/** The shell variable for the key, which keeps the key out of the shell's history. */
export const KEY_VARIABLE = 'KEY';

export function findRoute({ description }: Pick<Portal, 'description'>, id: string) {
  return description.routes.find(({ operation }) => operation.id === id);
}

/**
 * @param key A secret or a shell variable.
 * @param values Path parameters by name.
 */
export function formatCurl(
  { method, path, scopes, operation }: Route, url: string, key: string,
  values: ReadonlyMap<string, unknown> = new Map(),
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values.get(name))));
  const [[mediaType, content] = []] = Object.entries(operation.request ?? {});
  const isPlain = method === 'GET' || (method === 'POST' && content !== undefined);
  return [
    `curl ${isPlain ? '' : `-X ${method} `}${quote(url + filled)}`,
    ...scopes === undefined ? [] : [`-H "x-api-key: ${key}"`],
    ...mediaType === undefined ? [] : [`-H ${quote(`content-type: ${mediaType}`)}`],
    ...content === undefined ? [] : [`--data-binary ${quote(formatExamples(content)[0] ?? '')}`],
  ].join(' \\\n  ');
}

/** Example bodies as a client sends them: a text unchanged, anything else as JSON. */
export function formatExamples(content: Contents[string], indent?: number): readonly string[] {
  const examples = 'example' in content ? [content.example]
    : Object.values(content.examples).map(({ value }) => value);
  return examples.map((example) =>
    typeof example === 'string' ? example : JSON.stringify(example, undefined, indent));
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
