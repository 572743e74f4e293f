/**
 * Prevents server-side request forgery: decides where a message may be sent. A seller can register
 * any URL, and this server may reach hosts that the seller cannot: its own ports, its network, the
 * cloud's metadata service. So messages go to public addresses only, and only to the addresses that
 * were checked, because a second DNS lookup could return others.
 */
import { isIP } from 'node:net';
import { addressMatcher } from '../../domain/network-address.ts';

/** What the operator allows beyond public https endpoints. */
export interface TargetPolicy {
  /** Allows any address and any port. */
  readonly allowPrivate: boolean;
  /** Allows messages without TLS. */
  readonly allowHttp: boolean;
}

export interface Address {
  readonly address: string;
  /** 4 or 6. */
  readonly family: number;
}

/** Looks up all addresses of a name; rejects with the system's error. */
type Resolve = (name: string) => Promise<readonly Address[]>;

/** The addresses to connect to, or why not. */
type Target = { readonly addresses: readonly Address[] } | { readonly error: string };

const PORTS: Readonly<Record<string, readonly string[]>> = {
  'https:': ['', '443', '8443'],
  'http:': ['', '80', '443', '8080', '8443'],
};

/**
 * Special-purpose addresses (IANA registry, RFC 6890) and multicast addresses. In global IPv6: IETF
 * protocols with Teredo and ORCHID, documentation, and 6to4, which tunnels to IPv4.
 */
const isSpecialPurpose = addressMatcher([
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12',
  '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15',
  '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
  '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20',
]);
/** Global unicast (RFC 4291 section 2.4). It excludes IPv4 in all of its IPv6 forms. */
const isGlobalIpv6 = addressMatcher(['2000::/3']);

/**
 * Validates a URL and resolves its host once. Connect only to the returned addresses. Calls
 * `resolve` only for names, and passes its rejection on.
 */
export async function resolveTarget(
  url: URL, policy: TargetPolicy, resolve: Resolve,
): Promise<Target> {
  const error = validateUrl(url, policy);
  if (error !== undefined) return { error };
  const host = hostOf(url);
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  if (addresses.length === 0) return { error: 'its host name has no address' };
  if (policy.allowPrivate || addresses.every(({ address }) => isPublicAddress(address))) {
    return { addresses };
  }
  return { error: 'its address is not public' }; // naming it would reveal the server's network
}

/** The host of a URL for a socket: IPv6 without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Checks that need no lookup. The URL parser has already normalised every IPv4 notation. */
function validateUrl(url: URL, { allowPrivate, allowHttp }: TargetPolicy): string | undefined {
  const { protocol, username, password, href, port } = url;
  if (protocol !== 'https:' && !(protocol === 'http:' && allowHttp)) {
    return allowHttp ? 'it is neither https nor http' : 'it is not https';
  }
  if (username !== '' || password !== '') return 'it contains a user name or a password';
  if (href.includes('#')) return 'it has a fragment (#)';
  if (allowPrivate || PORTS[protocol]?.includes(port)) return undefined;
  return `its port is not one of ${PORTS[protocol]?.filter(Boolean).join(', ')}`;
}

function isPublicAddress(address: string): boolean {
  const isGlobal = isIP(address) === 4 || (!address.includes('%') && isGlobalIpv6(address));
  return isGlobal && !isSpecialPurpose(address);
}
