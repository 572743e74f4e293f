/** What `serve` prints for an empty database: how to open a shop, with or without the portal. */
import { relative } from 'node:path';
import { FIRST_CODE_LIFE_MS } from '../limits.ts';
import { invite } from '../../embed/invitation.ts';
import type { AccessStore } from '../../store/access-store.ts';
import type { AccountStore } from '../../store/account-store.ts';
import type { StoreLocation } from '../../store/open-store.ts';
import { formatLocation } from '../location.ts';
import { listProgram } from '../node-runtime.ts';

interface Start {
  readonly store: AccessStore & AccountStore;
  readonly url: string;
  readonly location: StoreLocation;
  readonly hasPortal: boolean;
}

/** Undefined if a seller exists. Creates an invitation if there is a portal. */
export async function describeFirstSteps(
  { store, url, location, hasPortal }: Start,
): Promise<string | undefined> {
  const [seller] = await store.listSellers({ after: undefined, limit: 1 });
  if (seller) return undefined;
  const program = listProgram(process.argv[1] ?? '').map(shorten).join(' ');
  const data = ['', ...formatLocation(location, quote)].join(' ');
  const commands = `in another terminal, in this folder, type:

  ${program} seller create "My shop"${data}
  KEY=$(${program} key create --name "My first key"${data})
  curl ${url}/api/v1/products -H "x-api-key: $KEY" -H "content-type: application/json" \\
    -d '{"name":"Blue mug","category":"Kitchen","sku":"MUG-1","price":12,"stock":40}'
  curl ${url}/api/v1/products -H "x-api-key: $KEY"
`;
  if (!hasPortal) return `The database is empty. To start, ${commands}`;
  const { code } = await invite(store, { isFirst: true, lifeMs: FIRST_CODE_LIFE_MS });
  return `
The database is empty. Open a shop in the portal with this code, which works once within a day:

Address: ${url}/portal/join
Code: ${code}

Or without the portal: ${commands}`;
}

function shorten(path: string): string {
  const short = relative('', path);
  if (short.startsWith('..')) return quote(path);
  return quote(short.includes('/') ? short : `./${short}`); // a bare name is looked up in PATH
}

function quote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
