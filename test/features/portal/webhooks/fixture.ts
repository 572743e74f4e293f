/** A shop with webhooks to a receiver on this machine, for tests of the webhook pages. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { formatWebhookId } from '../../../../src/domain/id.ts';
import type { Webhook } from '../../../../src/domain/webhooks/webhook.ts';
import { LOCAL } from '../../webhooks/routes.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeProduct, startServer, type TestServer } from '../../../support/server.ts';
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts';
import { assertPage } from '../page-rules.ts';
import { type Fields, openShop, type Shop } from '../page-client.ts';

interface Started {
  readonly server: TestServer & { readonly clock: ReturnType<typeof makeClock> };
  readonly shop: Shop;
  readonly receiver: Receiver;
}

export async function start(
  t: TestContext, settings: Partial<typeof LOCAL> = {},
): Promise<Started> {
  const clock = makeClock();
  const webhooks = { ...LOCAL, ...settings };
  const server = { ...await startServer(t, { portal: true, clock, webhooks }), clock };
  return { server, shop: await openShop(server), receiver: await startReceiver(t) };
}

/** Creates a webhook with the form. */
export async function make(
  server: TestServer, shop: Shop, fields: Fields,
): Promise<{ readonly secret: string; readonly webhook: Webhook }> {
  await shop.user.get('/portal/webhooks/new');
  const made = await shop.user.submit(fields);
  assertPage(made);
  const webhook = (await listWebhooks(server, shop)).at(-1);
  assert.ok(webhook);
  return { secret: readSecret(made.text), webhook };
}

/** Sends a form on the page of a webhook. */
export async function act(shop: Shop, webhook: Webhook, action: string, fields: Fields = {}) {
  await shop.user.get(pathOf(webhook));
  return shop.user.submit(fields, { action: `${pathOf(webhook)}/${action}` });
}

export function listWebhooks(
  { store }: Pick<TestServer, 'store'>, { sellerId }: Pick<Shop, 'sellerId'>,
): Promise<readonly Webhook[]> {
  return store.listWebhooks(sellerId, { after: undefined, limit: 100 });
}

export async function find({ store }: TestServer, webhook: Webhook): Promise<Webhook> {
  return await store.findWebhook(webhook) ?? assert.fail('The webhook was deleted.');
}

export function pathOf(webhook: Webhook): string {
  return `/portal/webhooks/${formatWebhookId(webhook)}`;
}

export function readSecret(page: string): string {
  const secret = /<pre id="copy-secret"[^>]*>(whsec_[A-Za-z0-9+/]+=*)</.exec(page)?.[1];
  return secret ?? assert.fail(page);
}

export async function createProduct(shop: Shop): Promise<void> {
  const answer = await shop.send({
    method: 'POST', path: '/api/v1/products', headers: { 'content-type': 'application/json' },
    body: JSON.stringify(makeProduct()),
  });
  assert.equal(answer.status, 201, answer.text);
}
