/**
 * Sends raw bytes to a server and parses the responses itself: a client library would reject or fix
 * what these tests send.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Answer } from '../support/http.ts';

interface Exchange {
  readonly bytes: Uint8Array;
  /** The loopback address of the client: the server counts rejections by address. */
  readonly from: string;
  readonly isHead: boolean;
  /**
   * When the exchange ends. `answer`: at the first complete response. `end`: when the server closes
   * the connection, which this side half-closes once nothing more arrives. `glance`: soon, without
   * waiting for a response.
   */
  readonly until: 'answer' | 'end' | 'glance';
}

interface Received {
  /** The complete responses, without interim (1xx) ones. */
  readonly answers: readonly Answer[];
  /** All received bytes. */
  readonly bytes: Buffer;
}

/** Generous for a busy machine: a response that takes longer counts as hanging. */
const DEADLINE_MS = 30_000;
const QUIET_MS = 8;
const GLANCE_MS = 25;

/** @throws Error on a timeout */
export function exchange(
  port: number, { bytes, from, isHead, until }: Exchange,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({
      port, host: '127.0.0.1', ...(process.platform === 'linux' && { localAddress: from }),
    });
    const finish = (isClosed: boolean): boolean => {
      const received = Buffer.concat(chunks);
      const answers = parseAnswers(received, isHead, isClosed);
      if (!isClosed && (until !== 'answer' || answers.length === 0)) return false;
      clearTimeout(deadline);
      clearTimeout(quiet);
      socket.destroy();
      resolve({ answers, bytes: received });
      return true;
    };
    const deadline = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no response in ${DEADLINE_MS} ms; received: ${Buffer.concat(chunks)}`));
    }, DEADLINE_MS);
    const onQuiet = (): void => {
      if (until === 'end') socket.end();
      if (until === 'glance') socket.destroy();
    };
    const quiet = setTimeout(onQuiet, until === 'glance' ? GLANCE_MS : QUIET_MS);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (until === 'end') quiet.refresh();
      finish(false);
    });
    // A server may close a connection during a write; the responses before that count.
    socket.on('error', () => {});
    socket.on('close', () => finish(true));
    socket.write(bytes);
  });
}

/** Complete responses in order; a truncated one does not count. */
function parseAnswers(bytes: Buffer, isHead: boolean, isClosed: boolean): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; ;) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    if (headEnd < 0) return answers;
    const [first = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first)?.[1]);
    if (Number.isNaN(status)) throw new Error(`no answer of HTTP/1.1: ${first}`);
    const headers = parseFields(lines);
    const bare = isHead || status < 200 || status === 204 || status === 304;
    const body = bare ? { content: Buffer.alloc(0), end: headEnd + 4 }
      : readContent(bytes, headEnd + 4, headers, isClosed);
    if (!body) return answers;
    if (status >= 200) {
      const text = decode(body.content, headers['content-encoding']).toString();
      answers.push({ status, headers, text, json: () => JSON.parse(text) });
    }
    at = body.end;
  }
}

function parseFields(lines: readonly string[]): IncomingHttpHeaders {
  const fields: Record<string, string | string[]> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([!-9;-~]+): ?(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`no field of an answer: ${JSON.stringify(line)}`);
    const key = name.toLowerCase();
    if (key === 'set-cookie') fields[key] = [...fields[key] ?? [], value];
    else fields[key] = key in fields ? `${String(fields[key])}, ${value}` : value;
  }
  return fields;
}

function readContent(
  bytes: Buffer, start: number, headers: IncomingHttpHeaders, isClosed: boolean,
): { readonly content: Buffer; readonly end: number } | undefined {
  if (headers['transfer-encoding'] !== undefined) return readChunks(bytes, start);
  const { 'content-length': length } = headers;
  if (length === undefined) {
    return isClosed ? { content: bytes.subarray(start), end: bytes.length } : undefined;
  }
  const end = start + Number(length);
  return end <= bytes.length ? { content: bytes.subarray(start, end), end } : undefined;
}

function readChunks(bytes: Buffer, start: number) {
  const pieces: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const end = lineEnd + 2 + size;
    if (end + 2 > bytes.length) return undefined;
    if (size === 0) return { content: Buffer.concat(pieces), end: end + 2 };
    pieces.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}

function decode(content: Buffer, coding: string | undefined): Buffer {
  if (content.length === 0) return content;
  switch (coding) {
    case 'br': return brotliDecompressSync(content);
    case 'gzip': return gunzipSync(content);
    default: return content;
  }
}
