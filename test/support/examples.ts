/** The examples in the comments of the package's public methods, and a program of all of them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = ['src/client/*.ts', 'src/embed/*.ts', 'src/http/server/listener.ts'];

export interface Example {
  /** Such as `Products.create`; an overload ends with its number: `Stock.sync 2`. */
  readonly name: string;
  /** Its import statements. */
  readonly imports: readonly string[];
  /** The rest. */
  readonly code: string;
  /** What `console.log` prints, as the comments behind the calls say. */
  readonly expected: readonly string[];
}

/** Every example, in the order of the files. */
export function readExamples(): readonly Example[] {
  const counts = new Map<string, number>();
  return globSync(SOURCES, { cwd: ROOT }).sort().flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const owners = [...text.matchAll(/^export (?:class|interface) (\w+)/gm)];
    const comments = [...text.matchAll(/^( *)\/\*\*((?:(?!\*\/)[^])*)\*\/\n(.*)/gm)];
    return comments.flatMap(({ index, 1: indent, 2: comment = '', 3: declaration = '' }) => {
      const block = /@example\n *\* ```ts\n([^]*?)\n *\* ```/.exec(comment)?.[1];
      if (block === undefined) return [];
      const [, member = ''] = /^ *(?:export )?(?:async )?(?:function |type )?\*? ?(\w+)(?:[<(]| =)/
        .exec(declaration.replace('async* ', '')) ?? [];
      const owner = owners.findLast((start) => start.index < index)?.[1] ?? '';
      const method = indent === '' ? member : `${owner}.${member}`;
      const count = (counts.get(method) ?? 0) + 1;
      counts.set(method, count);
      const lines = block.split('\n').map((line) => line.replace(/^ *\* ?/, ''));
      const isImport = (line: string): boolean => /^import .*;$/.test(line);
      return [{
        name: count > 1 ? `${method} ${count}` : method,
        imports: lines.filter(isImport),
        code: lines.filter((line) => !isImport(line)).join('\n').trim(),
        expected: lines.flatMap((line) => /console\.log\(.*\); \/\/ (.*)$/.exec(line)?.[1] ?? []),
      }];
    });
  });
}

/**
 * A TypeScript program that exports each example as a function of what examples may use.
 * @param resolve The module for the name of one, such as `seller-product-api`.
 */
export function writeExamples(
  examples: readonly Example[], resolve: (specifier: string) => string,
): string {
  const names = new Map<string, Set<string>>();
  for (const statement of examples.flatMap(({ imports }) => imports)) {
    const [, list = '', from = ''] = /^import \{ (.*) \} from '(.*)';$/.exec(statement) ?? [];
    names.set(from, new Set([...names.get(from) ?? [], ...list.split(', ')]));
  }
  const from = (specifier: string): string => `from ${JSON.stringify(resolve(specifier))};`;
  return `${[...names].map(([specifier, list]) =>
    `import { ${[...list].join(', ')} } ${from(specifier)}`).join('\n')}
import type { Listener, Seller, SellerApi, Shop } ${from('seller-product-api')}
import type { Webhook } ${from('seller-product-api/client')}
import type { Server } from 'node:http';

interface Given {
  readonly client: SellerApi;
  readonly shop: Shop;
  readonly seller: Seller;
  readonly webhook: Webhook;
  readonly listener: Listener;
  readonly server: Server;
  readonly request: Request;
  readonly secret: string;
  readonly console: Pick<Console, 'log'>;
}

export const examples = {
${examples.map(({ name, code }) => `${JSON.stringify(name)}: async ({
  client, shop, seller, webhook, listener, server, request, secret, console,
}: Given): Promise<void> => { {
${code}
} },`).join('\n')}
};
`;
}
