/**
 * Turns named parameters, as SQLite has them, into positional ones: `WHERE id = :id` becomes
 * `WHERE id = $1`. Literals, quoted identifiers, comments and casts (`::bigint`) are left as they
 * are. Comments within comments are not supported.
 */
import type { Parameters } from './sql.ts';

/** What is left as it is; then a parameter with its name. */
const TOKEN = new RegExp([
  /\b[eE]'(?:[^'\\]|\\.|'')*'/, /'(?:[^']|'')*'/, /"(?:[^"]|"")*"/, /--.*/, /\/\*[^]*?\*\//,
  /\$(?<tag>\w*)\$[^]*?\$\k<tag>\$/, /::/, /:(?<name>[a-zA-Z_]\w*)/,
].map(({ source }) => source).join('|'), 'g');
/** Texts are literals of the source, or made of few of them. */
const CACHE_LIMIT = 1_000;

/** A text with `$1`, and the names of its parameters by position. */
type Positional = readonly [text: string, names: readonly string[]];
const cache = new Map<string, Positional>();

/** @throws TypeError if a parameter is missing, or the statement does not name it */
export function toPositional(source: string, parameters: Parameters) {
  const positional = cache.get(source) ?? convert(source);
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(source, positional);
  const [text, names] = positional;
  const values = names.map((name) => {
    if (!Object.hasOwn(parameters, name)) throw new TypeError(`The parameter :${name} is missing.`);
    return parameters[name] ?? null;
  });
  const unused = Object.keys(parameters).filter((name) => !names.includes(name));
  if (unused.length > 0) throw new TypeError(`Unused parameters: ${unused.join(', ')}`);
  return { text, values };
}

function convert(source: string): Positional {
  const names = new Set<string>();
  const text = source.replaceAll(TOKEN, (token, ...rest) => {
    // The cast: the last argument has the named groups.
    const { name } = rest.at(-1) as { readonly name?: string };
    return name === undefined ? token : `$${[...names.add(name)].indexOf(name) + 1}`;
  });
  return [text, [...names]];
}
