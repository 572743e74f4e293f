/**
 * What proxies say of the clients that they speak for: `Forwarded` (RFC 7239) and its forerunner
 * `X-Forwarded-For`. Each proxy adds to the end, so what stands there is the only part that is not
 * the client's own word. A field that cannot be read for certain is refused.
 */
import { isIP, SocketAddress } from 'node:net';
import { normaliseAddress } from '../../domain/network-address.ts';
import { AppError } from '../../domain/error.ts';

const TOKEN = '([\\w!#$%&\'*+.^`|~-]+)';
const PAIR = new RegExp(`[ \\t]*(?:${TOKEN}=(?:"((?:[^"\\\\]|\\\\.)*)"|${TOKEN}))?[ \\t]*`, 'y');
/** One that its proxy does not tell. */
const HIDDEN = /^(?:unknown|_[\w.-]+)(?::[\w.]+)?$/i;
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::[\w.]+)?$/i;

/** The nodes of `Forwarded`, the nearest last; empty for an element that names none. */
export function parseForwarded(field: string): readonly string[] {
  const nodes: string[] = [];
  let node: string | undefined;
  let isEmpty = true;
  for (let at = 0; ;) {
    PAIR.lastIndex = at;
    const [whole = '', name, quoted, token = ''] = PAIR.exec(field) ?? [];
    at += whole.length;
    if (name !== undefined) isEmpty = false;
    if (name?.toLowerCase() === 'for') {
      if (node !== undefined) throw malformed('forwarded');
      node = quoted?.replace(/\\(.)/g, '$1') ?? token;
    }
    const mark = field[at];
    if (mark !== undefined && mark !== ';' && mark !== ',') throw malformed('forwarded');
    if (mark !== ';') {
      if (!isEmpty) nodes.push(node ?? '');
      node = undefined;
      isEmpty = true;
    }
    if (mark === undefined) return nodes;
    at += 1;
  }
}

/** The nodes of `X-Forwarded-For`, the nearest last. */
export function parseForwardedFor(field: string): readonly string[] {
  return field.split(',').map((node) => node.trim()).filter((node) => node !== '');
}

/** The address of a node; undefined where its proxy hides it. @throws AppError `bad_request` */
export function findNodeAddress(node: string): string | undefined {
  if (node === '' || HIDDEN.test(node)) return undefined;
  const [, inBrackets, beforePort] = WITH_PORT.exec(node) ?? [];
  const text = inBrackets ?? beforePort ?? node;
  const family = isIP(text);
  if (family === 0 || text.includes('%')) throw malformed('x-forwarded-for" or "forwarded');
  // In the one form in which sockets tell it, too.
  const { address } = new SocketAddress({ address: text, family: family === 6 ? 'ipv6' : 'ipv4' });
  return normaliseAddress(address);
}

function malformed(name: string): AppError {
  return new AppError('bad_request', `The header "${name}" of a proxy cannot be read.`);
}
