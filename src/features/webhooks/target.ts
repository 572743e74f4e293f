/**
 * The guard against server-side request forgery: where a message may go. A seller names any address
 * in the world, and this server could reach some that the seller cannot: its own ports, other
 * machines of its network, the metadata of its cloud. So only addresses of the public Internet are
 * sent to, and the addresses that were checked are the ones that are connected to.
 */
import { BlockList, isIP } from 'node:net';

/** What the owner of the server allows beyond that. */
export interface TargetPolicy {
  /** Any address, and any port. */
  readonly allowPrivate: boolean;
  /** Without TLS, too. */
  readonly allowHttp: boolean;
}

export interface Address {
  readonly address: string;
  /** 4 or 6. */
  readonly family: number;
}

/** Looks up all addresses of a name; rejects with the system's error. */
type Resolve = (name: string) => Promise<readonly Address[]>;

/** Where to connect to, or why not. */
type Target = { readonly addresses: readonly Address[] } | { readonly error: string };

const PORTS: Readonly<Record<string, readonly string[]>> = {
  'https:': ['', '443', '8443'],
  'http:': ['', '80', '443', '8080', '8443'],
};

// The registries of special-purpose addresses (RFC 6890) and of multicast addresses at IANA.
const REFUSED_IPV4 = listOf('ipv4', [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12',
  '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15',
  '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
]);
/** Global unicast (RFC 4291 section 2.4): IPv4 in any of its IPv6 forms is outside of it. */
const GLOBAL_IPV6 = listOf('ipv6', ['2000::/3']);
// IETF protocols with Teredo and ORCHID, documentation, and 6to4, which leads to IPv4.
const REFUSED_IPV6 = listOf('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

/**
 * Checks an address and resolves its name, once: connect to nothing but what this returns.
 * `resolve` is called only for names, and its rejection is the caller's.
 */
export async function findTarget(
  url: URL, policy: TargetPolicy, resolve: Resolve,
): Promise<Target> {
  const error = findUrlFault(url, policy);
  if (error !== undefined) return { error };
  const host = hostOf(url);
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  if (addresses.length === 0) return { error: 'its name has no address' };
  const isAllowed = policy.allowPrivate
    || addresses.every(({ address }) => isPublicAddress(address));
  if (isAllowed) return { addresses };
  // Which address it is would tell of the network that the server stands in.
  return { error: 'it leads to an address that is not of the public Internet' };
}

/** The host of an address as a socket takes it: IPv6 without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** What can be seen without looking anything up. The parser of URLs knows all forms of IPv4. */
function findUrlFault(url: URL, { allowPrivate, allowHttp }: TargetPolicy): string | undefined {
  const { protocol, username, password, href, port } = url;
  if (protocol !== 'https:' && !(protocol === 'http:' && allowHttp)) {
    return allowHttp ? 'it is neither https nor http' : 'it is not https';
  }
  if (username !== '' || password !== '') return 'it has a name or a password in it';
  if (href.includes('#')) return 'it has a fragment (#)';
  if (allowPrivate || PORTS[protocol]?.includes(port)) return undefined;
  return `it has a port other than ${PORTS[protocol]?.filter(Boolean).join(', ')}`;
}

/** Whether packets to this address leave for the public Internet. */
function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4: return !REFUSED_IPV4.check(address, 'ipv4');
    case 6: return !address.includes('%') && GLOBAL_IPV6.check(address, 'ipv6')
      && !REFUSED_IPV6.check(address, 'ipv6');
    default: return false;
  }
}

function listOf(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
