/**
 * A client of a recorded server, over one connection that stays open, one request at a time, so
 * that its answers can be found in the log by their order.
 */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Claim, Receipt } from './claim.ts';
import type { Sent, Span } from './operation.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: unknown;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export class Client {
  readonly #port: number;
  readonly #key: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #claims: (readonly Claim[])[] = [];
  #localPort: number | undefined;

  constructor(port: number, key: string) {
    this.#port = port;
    this.#key = key;
  }

  /** Sends a request, and records what its answer claims. */
  async ask(asked: Asked, claim: (text: string) => readonly Claim[]): Promise<Answered> {
    const answer = await this.#send(asked);
    assert.ok(answer.status < 300, `${answer.status}: ${answer.text}`);
    this.#claims.push(claim(answer.text));
    return answer;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** The client may know the claims of a response once its last byte was passed to the kernel. */
  placeReceipts(sent: readonly (Sent & Span)[]): Receipt[] {
    const own = sent.filter(({ peer }) => peer.endsWith(`->127.0.0.1:${this.#localPort}]`));
    const ends: number[] = [];
    for (const { data, begin } of own) {
      if (data.toString('latin1', 0, 9) === 'HTTP/1.1 ') ends.push(begin);
      else ends[ends.length - 1] = begin;
    }
    assert.equal(ends.length, this.#claims.length, 'the log has other responses');
    return this.#claims.flatMap((claims, index) =>
      claims.map((claim) => ({ ...claim, at: ends[index] ?? 0 })));
  }

  #send({ method, path, type = 'application/json', body }: Asked): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const content = body === undefined ? {} : { 'content-type': type };
      const headers = { 'x-api-key': this.#key, ...content };
      const outgoing = request({
        host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path, headers,
      });
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        // A socket that is connected has an address of this type.
        const { port } = response.socket.address() as AddressInfo;
        this.#localPort ??= port;
        assert.equal(port, this.#localPort, 'the connection did not stay open');
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => { text += chunk; });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      outgoing.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
    });
  }
}
