/** Sends one request over a connection of its own and reads the whole answer. */
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body. The one `any`: an answer has any shape, and tests assert on its members. */
  json(): any;
}

export interface Request {
  readonly method?: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

export function send(
  port: number, { method = 'GET', path, headers = {}, body }: Request,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { statusCode: status = 0, headers: fields } = response;
        resolve({ status, headers: fields, text, json: () => JSON.parse(text) });
      });
    });
    outgoing.end(body);
  });
}
