/**
 * Compresses answers for the clients that ask for it, on the threads of `node:zlib` and never on
 * the event loop. The length of a compressed secret can reveal it to a web page that sends many
 * requests (BREACH). Here no page can send one with a key (`browser_refused`, unless the operator
 * allows it), and the only secret in an answer is that of a webhook, to the request that made it.
 */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, createGzip, gzip } from 'node:zlib';
import { pipeThroughZlib } from '../request/content-coding.ts';
import { findNoneMatch, formatCodedTag } from './conditional.ts';
import { BROTLI_QUALITY, COMPRESSION_MIN_BYTES, COMPRESSION_MAX_RATIO } from '../limits.ts';
import { type ContentCoding, negotiateCoding } from '../request/negotiate.ts';
import { type Chunks, isStream, type Reply, withFields } from './reply.ts';

/** Not live streams, of which every event would have to be flushed. */
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?json|application\/x-ndjson|image\/svg)/;
/** By preference. A stream is compressed as fast as it is made, which Brotli is not. */
const CODINGS: readonly ContentCoding[] = ['br', 'gzip'];
const STREAM_CODINGS: readonly ContentCoding[] = ['gzip'];

const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } };
const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

const VARY = { vary: 'accept-encoding' };

type Compressed = Promise<Uint8Array | undefined>;

export class Compressor {
  /** The compressed forms of bodies that are answered again and again, for as long as they live. */
  readonly #kept = new WeakMap<Uint8Array, Map<ContentCoding, Compressed>>();

  /** The answer in the form that the request asks for, where there is one and it pays. */
  compress(
    reply: Reply<Chunks>, { method, headers }: Request,
  ): Reply<Chunks> | Promise<Reply<Chunks>> {
    if (reply.status === 304) return nameForm(reply, headers['if-none-match']);
    const { body } = reply;
    if (body === undefined || !isCompressible(reply)) return reply;
    const accepted = headers['accept-encoding'];
    if (isStream(body)) {
      // What a change streams is its progress, which must not wait for a block to be full.
      if (method !== 'GET' && method !== 'HEAD') return reply;
      const coding = negotiateCoding(accepted, STREAM_CODINGS);
      return coding ? encode(reply, coding, pipeThroughZlib(body, createGzip())) : vary(reply);
    }
    if (Buffer.byteLength(body) < COMPRESSION_MIN_BYTES) return reply;
    const coding = negotiateCoding(accepted, CODINGS);
    if (!coding) return vary(reply);
    return this.#findForm(body, coding).then((form) =>
      form ? encode(reply, coding, form) : vary(reply));
  }

  /** The compressed body; undefined where it does not pay. */
  #findForm(body: string | Uint8Array, coding: ContentCoding): Compressed {
    if (typeof body === 'string') return shrink(Buffer.from(body), coding);
    const forms = this.#kept.get(body) ?? new Map<ContentCoding, Compressed>();
    this.#kept.set(body, forms);
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
  const named = etag === undefined ? undefined : findNoneMatch(ifNoneMatch, etag);
  return withFields(vary(reply), named === undefined ? undefined : { etag: named });
}

/** Says that the answer depends on what codings are accepted, where it does not say so yet. */
function vary(reply: Reply<Chunks>): Reply<Chunks> {
  return reply.headers['vary']?.includes('accept-encoding') ? reply : withFields(reply, VARY);
}

async function shrink(body: Uint8Array, coding: ContentCoding): Compressed {
  const form = coding === 'br'
    ? await compressBrotli(body, BROTLI_OPTIONS) : await compressGzip(body);
  return form.length < body.length * COMPRESSION_MAX_RATIO ? form : undefined;
}
