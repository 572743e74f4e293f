/** A line for a shell (POSIX, section 2.2.2) that calls an operation of this very server. */
import type { Operation, Parameter } from './document.ts';

/** What stands for the key: a variable of the shell, so that no key is in its history. */
export const KEY_VARIABLE = 'KEY';

/** `url` is that of the server; `values` are those of parameters of the path, by their names. */
export function formatCurl(
  { method, path, scope, parameters, body }: Operation, url: string,
  values: ReadonlyMap<string, string>,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values.get(name) ?? exampleOf(parameters, name)));
  const [mediaType, content] = Object.entries(body?.content ?? {})[0] ?? [];
  const isPlain = method === 'GET' || (method === 'POST' && content !== undefined);
  const lines = [
    `curl ${isPlain ? '' : `-X ${method} `}${quote(url + filled)}`,
    ...scope === undefined ? [] : [`-H "x-api-key: $${KEY_VARIABLE}"`],
    ...mediaType === undefined ? [] : [`-H ${quote(`content-type: ${mediaType}`)}`],
    ...content === undefined ? [] : [`--data-binary ${quote(formatExample(content.example))}`],
  ];
  return lines.join(' \\\n  ');
}

/** An example as it is sent: JSON, unless it is a text of another type. */
export function formatExample(example: unknown, indent?: number): string {
  return typeof example === 'string' ? example : JSON.stringify(example, undefined, indent);
}

function exampleOf(parameters: readonly Parameter[], name: string): string {
  return String(parameters.find((parameter) => parameter.name === name)?.example);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
