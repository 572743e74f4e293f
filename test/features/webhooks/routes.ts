/** Sends webhook requests, for the route tests. */
import assert from 'node:assert/strict';
import { HELD_MS } from '../../support/held-timers.ts';
import type { Answer } from '../../support/http.ts';
import type { TestSeller } from '../../support/server.ts';

export const WEBHOOKS = '/api/v1/webhooks';
/** Settings of a server that sends to this machine, where no delivery times out. */
export const LOCAL = { allowPrivate: true, allowHttp: true, timeoutMs: HELD_MS };

const JSON_BODY = { 'content-type': 'application/json' };

/** Sends JSON to a webhook route; `path` follows `/api/v1/webhooks`. */
export function ask(
  seller: TestSeller, method: string, path = '', body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const fields = { ...(body !== undefined && JSON_BODY), ...headers };
  return seller.send({ method, path: `${WEBHOOKS}${path}`, headers: fields, ...sent });
}

export interface CreatedWebhook {
  readonly id: string;
  readonly secret: string;
}

export async function createWebhook(
  seller: TestSeller, url: string, members: Readonly<Record<string, unknown>> = {},
): Promise<CreatedWebhook> {
  const answer = await ask(seller, 'POST', '', { url, ...members });
  assert.equal(answer.status, 201, answer.text);
  return answer.json();
}

export async function readWebhook(seller: TestSeller, id: string) {
  const answer = await ask(seller, 'GET', `/${id}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json();
}

export async function listDeliveries(seller: TestSeller, id: string) {
  const answer = await ask(seller, 'GET', `/${id}/deliveries`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json().deliveries;
}

/** Reads again until the condition holds. */
export async function waitFor<Value>(
  read: () => Promise<Value>, holds: (value: Value) => boolean,
): Promise<Value> {
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
  }
}
