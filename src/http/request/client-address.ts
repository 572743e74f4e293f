/**
 * The client address of a request: the socket's address or, behind trusted proxies, the nearest
 * address in `Forwarded` (RFC 7239) or `X-Forwarded-For` that is not a trusted proxy. Each proxy
 * appends to the end, so a client can forge only what comes before. Ignores these headers from
 * anyone but a trusted proxy; rejects them if they are malformed or contradict each other.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP, type Socket, SocketAddress } from 'node:net';
import {
  addressMatcher, isLoopback, normaliseAddress, parseAddressRanges,
} from '../../domain/network-address.ts';
import { AppError } from '../../domain/error.ts';

/** In the list of trusted proxies: all clients of the server's Unix socket. */
const UNIX = 'unix';

const TOKEN = '([\\w!#$%&\'*+.^`|~-]+)';
const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"';
/**
 * One pair of `Forwarded`, possibly empty, and the separator after it. Spaces match in one way
 * only, so that a long run of them takes linear time.
 */
const PAIR = new RegExp(`[ \\t]*(?:${TOKEN}=(?:${QUOTED}|${TOKEN})[ \\t]*)?([;,]|$)`, 'gy');
/** A node whose address the proxy does not disclose. */
const HIDDEN = /^(?:unknown|_[\w.-]+)(?::[\w.]+)?$/i;
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::[\w.]+)?$/i;

/**
 * Whether a web page sent the request, according to the headers that browsers add. False if a
 * person typed the address.
 */
export function isFromWebPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return headers.origin !== undefined || (site !== undefined && site !== 'none');
}

/**
 * Whether the client runs on this machine: the socket address and every address in the forwarding
 * headers, trusted or not, are loopback. A proxy that adds no such header looks like a client.
 * False for a Unix socket, which has no peer address.
 * @throws AppError `bad_request` for a malformed forwarding header
 */
export function isLocalClient(request: IncomingMessage): boolean {
  return isLoopback(readPeerAddress(request)) && readForwardedNodes(request).flat()
    .every((node) => isLoopback(findNodeAddress(node) ?? ''));
}

/** Empty for a socket without an address (a Unix socket, or one that has closed). */
export function readPeerAddress({ socket }: IncomingMessage): string {
  return normaliseAddress(socket.remoteAddress ?? '');
}

/** @param proxies Addresses, CIDR ranges and `unix`. @throws AppError `invalid_data` */
export function makeTrustedProxies(proxies: readonly string[]) {
  const ranges = parseAddressRanges(proxies.filter((proxy) => proxy !== UNIX));
  if ('error' in ranges) throw new AppError('invalid_data', ranges.error.detail);
  const has = addressMatcher(ranges.value);
  const hasUnix = proxies.includes(UNIX);

  const isTrusted = (peer: string, { localAddress, destroyed }: Socket): boolean =>
    (peer === '' ? hasUnix && localAddress === undefined && !destroyed : has(peer));

  /** Follows the nodes from the nearest, across trusted proxies, to the first other node. */
  function follow(peer: string, nodes: readonly string[]): string {
    let nearest = peer;
    for (const node of nodes.toReversed()) {
      const address = findNodeAddress(node);
      if (address === undefined) return nearest;
      nearest = address;
      if (!has(address)) return nearest;
    }
    return nearest;
  }

  return {
    /** Whether an address is that of a trusted proxy. */
    has,
    /** @throws AppError `bad_request` if a trusted proxy's headers are malformed or differ */
    readClientAddress(request: IncomingMessage, peer = readPeerAddress(request)): string {
      if (proxies.length === 0 || !isTrusted(peer, request.socket)) return peer;
      const [address = peer, other = address] = readForwardedNodes(request)
        .map((nodes) => follow(peer, nodes));
      if (address === other) return address;
      const detail = 'The headers "forwarded" and "x-forwarded-for" name different clients.';
      throw new AppError('bad_request', detail);
    },
  };
}

/** The nodes of `Forwarded`, nearest last; '' for an element without a node. */
function parseForwarded(field: string): readonly string[] {
  const elements: (readonly [name: string, value: string])[][] = [[]];
  let length = 0;
  for (const [whole, name, quoted, token = '', mark] of field.matchAll(PAIR)) {
    length += whole.length;
    const value = quoted?.replace(/\\(.)/g, '$1') ?? token;
    if (name !== undefined) elements.at(-1)?.push([name.toLowerCase(), value]);
    if (mark === ',') elements.push([]);
  }
  if (length < field.length) throw malformed('forwarded');
  return elements.filter((pairs) => pairs.length > 0).map((pairs) => {
    const [node, ...others] = pairs.filter(([name]) => name === 'for');
    if (others.length > 0) throw malformed('forwarded');
    return node?.[1] ?? '';
  });
}

/** The nodes of `X-Forwarded-For`, nearest last. */
function parseForwardedFor(field: string): readonly string[] {
  return field.split(',').map((node) => node.trim()).filter((node) => node !== '');
}

/** The address of a node; undefined if its proxy hides it. @throws AppError `bad_request` */
function findNodeAddress(node: string): string | undefined {
  if (node === '' || HIDDEN.test(node)) return undefined;
  const [, inBrackets, beforePort] = WITH_PORT.exec(node) ?? [];
  const text = inBrackets ?? beforePort ?? node;
  const family = isIP(text);
  if (family === 0 || text.includes('%')) throw malformed('x-forwarded-for" or "forwarded');
  // Canonical form, as sockets report addresses.
  const { address } = new SocketAddress({ address: text, family: family === 6 ? 'ipv6' : 'ipv4' });
  return normaliseAddress(address);
}

/** The nodes of the forwarding headers that were sent. */
function readForwardedNodes({ headers }: IncomingMessage): readonly (readonly string[])[] {
  const { forwarded, 'x-forwarded-for': forwardedFor } = headers;
  return [
    ...(forwarded === undefined ? [] : [parseForwarded(forwarded)]),
    ...(forwardedFor === undefined ? [] : [parseForwardedFor(String(forwardedFor))]),
  ];
}

function malformed(name: string): AppError {
  return new AppError('bad_request', `The proxy header "${name}" is malformed.`);
}
