/**
 * Network addresses and ranges (CIDR, RFC 4632 and RFC 4291), on Node's BlockList. An IPv4-mapped
 * IPv6 address (`::ffff:192.0.2.1`) is the IPv4 address.
 */
import { BlockList, isIP } from 'node:net';
import { KEY_ADDRESS_RANGES_LIMIT } from './limits.ts';
import { invalid, type ParseResult } from './validation.ts';

const MAPPED_PREFIX = '::ffff:';

/** Valid ranges in the stored form: a single address gets its full prefix length. */
export function parseAddressRanges(ranges: readonly string[]): ParseResult<readonly string[]> {
  if (ranges.length > KEY_ADDRESS_RANGES_LIMIT) {
    return invalid('length', `Give at most ${KEY_ADDRESS_RANGES_LIMIT} address ranges.`);
  }
  const value: string[] = [];
  for (const range of ranges) {
    const { address, prefix } = splitRange(range);
    const bits = isIP(address) === 6 ? 128 : 32;
    if (isIP(address) === 0 || address.includes('%') || !(prefix <= bits)) {
      const hint = 'Give an address or a CIDR range, such as 192.0.2.0/24 or 2001:db8::/32.';
      return invalid('format', `"${range}" is not an address range. ${hint}`);
    }
    value.push(`${address}/${prefix}`);
  }
  return { value };
}

/** Whether an address is in one of these ranges, which come from `parseAddressRanges`. */
export function addressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const { address, prefix } = splitRange(range);
    list.addSubnet(address, prefix, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return (address): boolean => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/** `ranges` come from `parseAddressRanges`. */
export function isAddressInRanges(address: string, ranges: readonly string[]): boolean {
  return addressMatcher(ranges)(address);
}

export const isLoopback = addressMatcher(['127.0.0.0/8', '::1/128']);

/** Sockets report IPv4 addresses in two forms; this returns the plain one. */
export function normaliseAddress(address: string): string {
  if (!address.startsWith(MAPPED_PREFIX)) return address;
  const mapped = address.slice(MAPPED_PREFIX.length);
  return isIP(mapped) === 4 ? mapped : address;
}

/**
 * The prefix by which a client is rate limited: for IPv6 the /64 network, the smallest that a site
 * gets (RFC 6177), since a client can use any address in it.
 */
export function rateLimitPrefix(address: string): string {
  if (isIP(address) !== 6) return address;
  const [plain = ''] = address.split('%');
  const [front = [], back = []] = plain.split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return `${[...front, ...zeros, ...back].slice(0, 4).join(':')}::/64`;
}

function splitRange(range: string): { address: string; prefix: number } {
  const [address = '', prefix, ...rest] = range.split('/');
  const whole = isIP(address) === 6 ? 128 : 32;
  if (prefix === undefined) return { address, prefix: whole };
  const valid = rest.length === 0 && /^\d{1,3}$/.test(prefix);
  return { address, prefix: valid ? Number(prefix) : NaN };
}
