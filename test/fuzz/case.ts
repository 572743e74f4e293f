/** One fuzz case: a request and its bytes. */
import type { Random } from '../domain/random.ts';

export interface Case {
  /** A description for people. */
  readonly label: string;
  readonly bytes: Buffer;
  readonly from: string;
  readonly method: string;
  readonly until: 'answer' | 'end' | 'glance';
  /** The OpenAPI operation that the request is for, with path parameters in braces. */
  readonly operation?: { readonly method: string; readonly path: string };
  readonly isPage: boolean;
}

type Field = readonly [name: string, value: string];

interface Parts {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly Field[];
  readonly body?: Uint8Array | undefined;
  /** Sent in chunks, of random sizes. */
  readonly isChunked?: boolean;
}

/** A request with valid framing, whatever its parts contain. */
export function formatRequest(
  random: Random, { method, target, fields, body, isChunked = false }: Parts,
): Buffer {
  const framing: Field[] = body === undefined ? []
    : [isChunked ? ['transfer-encoding', 'chunked'] : ['content-length', String(body.length)]];
  const lines = [...fields, ...framing].map(([name, value]) => `${name}: ${flatten(value)}\r\n`);
  const line = `${method} ${flatten(target).replaceAll(' ', '%20')} HTTP/1.1`;
  const head = `${line}\r\n${lines.join('')}\r\n`;
  if (body === undefined) return Buffer.from(head);
  return Buffer.concat([Buffer.from(head), isChunked ? chunk(random, body) : body]);
}

/** A loopback address: rejections are counted per address. */
export function pickAddress(random: Random): string {
  return `127.${1 + random.below(200)}.${random.below(250)}.${1 + random.below(250)}`;
}

/** Without line breaks, which `wire-cases.ts` covers. */
function flatten(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, '');
}

function chunk(random: Random, body: Uint8Array): Buffer {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < body.length;) {
    const end = Math.min(body.length, at + 1 + random.below(200));
    const size = (end - at).toString(16);
    pieces.push(Buffer.from(`${size}\r\n`), body.subarray(at, end), Buffer.from('\r\n'));
    at = end;
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}
