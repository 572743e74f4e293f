/** Servers in child processes, for delivery tests that kill them. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { generateApiKey, toStoredSecret } from '../../../src/domain/access/api-key.ts';
import { makeNewKey, makeSeller } from '../../store/contract/fixture.ts';
import { openStore } from '../../store/sqlite/open.ts';
import { type Serving, startServing } from '../../support/command.ts';
import { send } from '../../support/http.ts';
import { makeProduct } from '../../support/server.ts';

const PRODUCTS = '/api/v1/products';

/** Creates a seller, and returns its key. */
export async function prepareSeller(t: TestContext, folder: string): Promise<string> {
  const store = await openStore(t, { folder });
  const { id } = await makeSeller(store);
  const key = generateApiKey();
  await store.createKey(id, toStoredSecret(key), makeNewKey());
  await store.close();
  return key;
}

/** Starts a server on this data folder that may send to a loopback receiver. */
export function serve(t: TestContext, folder: string): Promise<Serving> {
  const flags = ['--rate-limit', '0', '--webhook-allow-private', '--webhook-allow-http'];
  return startServing(t, ['--data', folder, ...flags]);
}

export async function createWebhook(serving: Serving, key: string, url: string): Promise<void> {
  const answer = await send(serving.port, {
    method: 'POST', path: '/api/v1/webhooks', body: JSON.stringify({ url }),
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
  });
  assert.equal(answer.status, 201, answer.text);
}

/** Creates a product; undefined if the server has ended. */
export async function create(serving: Serving, key: string) {
  try {
    const answer = await send(serving.port, {
      method: 'POST', path: PRODUCTS, body: JSON.stringify(makeProduct()),
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
    });
    assert.equal(answer.status, 201, answer.text);
    return answer;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return undefined;
  }
}
