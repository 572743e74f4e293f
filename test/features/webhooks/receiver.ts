/** A webhook receiver: a loopback server whose responses a test sets. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { listenOnFreePort } from '../../support/listening.ts';

export interface Received {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** The one `any`: tests assert on its members. */
  readonly body: any;
}

/** Answers one request; a function that does nothing leaves it hanging. */
export type Answering = (response: ServerResponse, received: Received) => void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** All messages so far, in order. */
  readonly received: Received[];
  /** May be changed at any time. */
  answer: Answering;
  /** Resolves once the received messages meet the condition. */
  until(holds: (received: readonly Received[]) => boolean): Promise<void>;
}

export const OK: Answering = (response) => response.writeHead(204).end();

export function answerWith(status: number, headers: Record<string, string> = {}): Answering {
  return (response) => response.writeHead(status, headers).end('thrown away');
}

export async function startReceiver(
  t: Pick<TestContext, 'after'>, first: Answering = OK,
): Promise<Receiver> {
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // the sender disconnected
    }
    const text = Buffer.concat(chunks).toString();
    const { method = '', url = '', headers } = request;
    const id = String(headers['webhook-id']);
    const one = { id, method, path: url, headers, text, body: JSON.parse(text) };
    receiver.received.push(one);
    receiver.answer(response, one);
    for (const check of waiting) check();
  });
  const port = await listenOnFreePort(t, server);
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`, port, received: [], answer: first,
    until: (holds) => new Promise((resolve) => {
      const check = (): void => {
        if (!holds(receiver.received)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    }),
  };
  return receiver;
}

/** The positions of all received changes, in the order of arrival. */
export function positionsOf(received: readonly Received[]): number[] {
  return received.flatMap(({ body }): number[] =>
    (body.data.changes ?? []).map(({ position }: { position: number }) => position));
}

/** The secrets that have signed a message, verified as a receiver does. */
export function findSigners(
  { id, headers, text }: Received, secrets: readonly string[],
): string[] {
  const content = `${id}.${headers['webhook-timestamp']}.${text}`;
  const signatures = String(headers['webhook-signature']).split(' ');
  return secrets.filter((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    return signatures.includes(`v1,${createHmac('sha256', key).update(content).digest('base64')}`);
  });
}
