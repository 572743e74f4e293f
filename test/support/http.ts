/** Sends one request, on a new connection unless an agent is given, and reads the response. */
import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body. `any`, since tests assert on members of any shape. */
  json(): any;
}

export interface Request {
  readonly method?: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  /** Default 127.0.0.1. */
  readonly hostname?: string;
  /** Whose connections the request may use. */
  readonly agent?: Agent;
}

export function send(
  port: number,
  { method = 'GET', path, headers = {}, body, hostname = '127.0.0.1', agent }: Request,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const where = { hostname, port, agent: agent ?? false };
    const outgoing = request({ ...where, method, path, headers });
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
