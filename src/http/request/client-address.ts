/**
 * The address that a request came from: the socket's own, or, where that is a proxy which is
 * trusted, the nearest one that its headers name and that is no such proxy. Of anybody else those
 * headers count for nothing, and where the two of them disagree one is the client's: refused.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  AddressSet, isLoopback, normaliseAddress, parseAddressRanges,
} from '../../domain/network-address.ts';
import { AppError } from '../../domain/error.ts';
import { findNodeAddress, parseForwarded, parseForwardedFor } from './forwarded.ts';

/** Among the proxies: whoever connects to a Unix socket of the server. */
const UNIX = 'unix';

/**
 * Whether the client runs on this machine: its socket address is loopback, and so is every address
 * in its forwarding headers, whether or not the proxy is trusted. A proxy that adds no such header
 * looks like a client. False for a Unix socket, which has no peer address.
 * @throws AppError `bad_request` for a malformed forwarding header
 */
export function isLocalClient(request: IncomingMessage): boolean {
  return isLoopback(readPeerAddress(request)) && readForwardedNodes(request).flat()
    .every((node) => isLoopback(findNodeAddress(node) ?? ''));
}

/** Empty for a socket that has no address (a Unix socket, or one that is closed already). */
export function readPeerAddress({ socket }: IncomingMessage): string {
  return normaliseAddress(socket.remoteAddress ?? '');
}

export class TrustedProxies {
  readonly #addresses: AddressSet;
  readonly #hasUnix: boolean;
  readonly #isNone: boolean;

  /** Addresses, CIDR ranges and `unix`. @throws AppError `invalid_data` */
  constructor(proxies: readonly string[]) {
    const ranges = parseAddressRanges(proxies.filter((proxy) => proxy !== UNIX));
    if ('error' in ranges) throw new AppError('invalid_data', ranges.error.detail);
    this.#addresses = new AddressSet(ranges.value);
    this.#hasUnix = proxies.includes(UNIX);
    this.#isNone = proxies.length === 0;
  }

  has(address: string): boolean {
    return this.#addresses.has(address);
  }

  /** @throws AppError `bad_request` where a proxy that is trusted leaves it in doubt */
  readClientAddress(request: IncomingMessage): string {
    const peer = readPeerAddress(request);
    if (this.#isNone || !this.#isTrusted(peer, request.socket)) return peer;
    const [address = peer, other = address] = readForwardedNodes(request)
      .map((nodes) => this.#follow(peer, nodes));
    if (address === other) return address;
    const detail = 'The headers "forwarded" and "x-forwarded-for" name different clients.';
    throw new AppError('bad_request', detail);
  }

  #isTrusted(peer: string, { localAddress, destroyed }: Socket): boolean {
    if (peer !== '') return this.has(peer);
    return this.#hasUnix && localAddress === undefined && !destroyed;
  }

  /** From the nearest node, over proxies that are trusted, to the first that is not. */
  #follow(peer: string, nodes: readonly string[]): string {
    let nearest = peer;
    for (const node of nodes.toReversed()) {
      const address = findNodeAddress(node);
      if (address === undefined) return nearest;
      nearest = address;
      if (!this.has(address)) return nearest;
    }
    return nearest;
  }
}

/** The addresses in `Forwarded` and `X-Forwarded-For`, if sent; the nearest last. */
function readForwardedNodes({ headers }: IncomingMessage): readonly (readonly string[])[] {
  const { forwarded, 'x-forwarded-for': forwardedFor } = headers;
  return [
    ...(forwarded === undefined ? [] : [parseForwarded(forwarded)]),
    ...(forwardedFor === undefined ? [] : [parseForwardedFor(String(forwardedFor))]),
  ];
}
