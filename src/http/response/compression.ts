/**
 * Compresses responses for clients that accept it, on `node:zlib` threads, never on the event loop.
 * The length of a compressed secret can reveal it to a web page that sends many requests (BREACH).
 * Here no page can send a request with a key (`browser_refused`, unless the operator allows it),
 * and a response contains a secret only when a webhook is created.
 */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createGzip, gzip } from 'node:zlib';
import { findNoneMatch, formatCodedTag } from './conditional.ts';
import { BROTLI_QUALITY, COMPRESSION_MIN_BYTES, COMPRESSION_MAX_RATIO } from '../limits.ts';
import { type ContentCoding, negotiateCoding } from '../request/negotiate.ts';
import { type Chunks, isStream, type Reply, withFields } from './reply.ts';

/** Excludes live streams, whose events would each need a flush. */
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?json|application\/x-ndjson|image\/svg)/;
/** In order of preference. Streams are compressed on the fly; Brotli is too slow for that. */
const CODINGS: readonly ContentCoding[] = ['br', 'gzip'];
const STREAM_CODINGS: readonly ContentCoding[] = ['gzip'];

const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } };
const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

const VARY = { vary: 'accept-encoding' };

type Compressed = Promise<Uint8Array | undefined>;

export class Compressor {
  /** Compressed forms of cached bodies; each lives as long as its body. */
  readonly #cache = new WeakMap<Uint8Array, Map<ContentCoding, Compressed>>();

  /** The response in an accepted coding, compressed if that is worth it. */
  compress(
    reply: Reply<Chunks>, { method, headers }: Request,
  ): Reply<Chunks> | Promise<Reply<Chunks>> {
    if (reply.status === 304) return nameForm(reply, headers['if-none-match']);
    const { body } = reply;
    if (body === undefined) return reply;
    const isLong = isStream(body) || Buffer.byteLength(body) >= COMPRESSION_MIN_BYTES;
    if (!isLong || !isCompressible(reply)) return reply;
    const accepted = headers['accept-encoding'];
    if (isStream(body)) {
      if (reply.headers['content-length'] !== undefined) return vary(reply); // its length stays
      // The response to a write is a progress report: it must not wait until a block is full.
      if (method !== 'GET' && method !== 'HEAD') return reply;
      const coding = negotiateCoding(accepted, STREAM_CODINGS);
      return coding ? encode(reply, coding, pipeThroughZlib(body, createGzip())) : vary(reply);
    }
    const coding = negotiateCoding(accepted, CODINGS);
    if (!coding) return vary(reply);
    return this.#findForm(body, coding).then((form) =>
      form ? encode(reply, coding, form) : vary(reply));
  }

  /** The compressed body; undefined if it is hardly smaller. */
  #findForm(body: string | Uint8Array, coding: ContentCoding): Compressed {
    if (typeof body === 'string') return shrink(Buffer.from(body), coding);
    const forms = this.#cache.get(body) ?? new Map<ContentCoding, Compressed>();
    this.#cache.set(body, forms);
    const form = forms.get(coding) ?? shrink(body, coding);
    forms.set(coding, form);
    return form;
  }
}

type Request = Pick<IncomingMessage, 'method' | 'headers'>;

function isCompressible({ status, headers }: Reply<Chunks>): boolean {
  return (status === 200 || status === 201) && COMPRESSIBLE.test(headers['content-type'] ?? '');
}

function encode(
  reply: Reply<Chunks>, coding: ContentCoding, body: NonNullable<Reply<Chunks>['body']>,
): Reply<Chunks> {
  const { etag } = reply.headers;
  const fields = {
    'content-encoding': coding,
    ...(etag !== undefined && { etag: formatCodedTag(etag, coding) }),
  };
  return { ...withFields(vary(reply), fields), body };
}

/** A 304 names the form that the client has (RFC 9110 section 15.4.5). */
function nameForm(reply: Reply<Chunks>, ifNoneMatch: string | undefined): Reply<Chunks> {
  const { etag } = reply.headers;
  const formTag = etag === undefined ? undefined : findNoneMatch(ifNoneMatch, etag);
  return withFields(vary(reply), formTag === undefined ? undefined : { etag: formTag });
}

/** Adds `Vary: accept-encoding` unless it is there. */
function vary(reply: Reply<Chunks>): Reply<Chunks> {
  return reply.headers['vary']?.includes('accept-encoding') ? reply : withFields(reply, VARY);
}

/** Pipes chunks through a zlib stream, in either direction, with backpressure. */
export async function* pipeThroughZlib(
  chunks: Chunks, coding: Transform,
): AsyncGenerator<Uint8Array, void, void> {
  pipeline(chunks, coding, () => {}); // an error of the chunks is emitted by `coding` too
  // A zlib stream yields buffers.
  yield* coding as AsyncIterable<Uint8Array>;
}

async function shrink(body: Uint8Array, coding: ContentCoding): Compressed {
  const form = coding === 'br'
    ? await compressBrotli(body, BROTLI_OPTIONS) : await compressGzip(body);
  return form.length < body.length * COMPRESSION_MAX_RATIO ? form : undefined;
}
