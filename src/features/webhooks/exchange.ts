/**
 * What the log keeps of a request and its response: enough to see why an endpoint rejects messages.
 * Leaves out the values of response fields that may contain credentials.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Header, WebhookExchange } from '../../domain/webhooks/webhook-attempt.ts';
import {
  WEBHOOK_REQUEST_KEPT_BYTES, WEBHOOK_RESPONSE_HEADERS_KEPT_CHARACTERS,
  WEBHOOK_RESPONSE_KEPT_BYTES,
} from './limits.ts';

export type SentRequest = Pick<WebhookExchange, 'url' | 'request'>;
type Received = NonNullable<WebhookExchange['response']>;

/** Fields that sign in to the endpoint, or to what is in front of it. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization', 'cookie', 'proxy-authorization', 'set-cookie', 'set-cookie2',
]);
const NOT_KEPT = '(not stored)';

export function describeRequest(url: URL, headers: OutgoingHttpHeaders, body: string): SentRequest {
  const bytes = Buffer.from(body);
  return {
    url: url.href,
    request: {
      headers: Object.entries(headers).map(([name, value]) => ({ name, value: String(value) })),
      body: decode(bytes.subarray(0, WEBHOOK_REQUEST_KEPT_BYTES)),
      bodyBytes: bytes.length,
    },
  };
}

/** Collects the beginning of a response while it is read. */
export function recordResponse({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>) {
  const headers = listHeaders(rawHeaders);
  let body = Buffer.alloc(0);
  return {
    add(chunk: Buffer): void {
      if (body.length >= WEBHOOK_RESPONSE_KEPT_BYTES) return;
      body = Buffer.concat([body, chunk]).subarray(0, WEBHOOK_RESPONSE_KEPT_BYTES);
    },
    read: (): Received => ({ headers, body: decode(body) }),
  };
}

/** The fields in their order, up to a size. @param raw Names and values alternate. */
function listHeaders(raw: readonly string[]): readonly Header[] {
  const headers: Header[] = [];
  let characters = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const [name = '', rawValue = ''] = [raw[index], raw[index + 1]];
    const value = CREDENTIALS.has(name.toLowerCase()) ? NOT_KEPT : rawValue;
    characters += name.length + value.length;
    if (characters > WEBHOOK_RESPONSE_HEADERS_KEPT_CHARACTERS) break;
    headers.push({ name, value });
  }
  return headers;
}

/** Drops an incomplete character at the end; other bytes that are not UTF-8 become U+FFFD. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}
