/** A program that embeds the shop and receives its webhooks. Never runs. */
import { createServer, type IncomingMessage } from 'node:http';
import {
  type AccessLogEntry, AppError, createShop, type CreatedKey, type Key, type Listener,
  type Scope, type Seller, type Shop, type ShopOptions,
} from 'seller-product-api';
import {
  verifyWebhook, type WebhookEvent, WebhookVerificationError,
} from 'seller-product-api/webhooks';

const scopes: readonly Scope[] = ['products:read', 'stock:write'];
const options: ShopOptions = {
  baseUrl: 'http://127.0.0.1:3000/shop', rateLimitPerMinute: 600,
  portal: { openRegistration: true }, webhooks: { allowPrivate: true },
  trustedProxies: ['10.0.0.0/8'], clock: Date.now,
  authenticate: async (request: IncomingMessage) =>
    (request.headers.cookie === undefined ? undefined : { seller: 'sel_1', scopes }),
  onRequestComplete: ({ route, status, durationMs }: AccessLogEntry) =>
    console.log(route, status, durationMs),
  report: ({ id, error }) => console.error(id, error),
};

export async function embed(): Promise<Listener> {
  const shop: Shop = await createShop({ folder: 'shop-data' }, options);
  const seller: Seller = await shop.sellers.create({ name: 'My shop', currency: 'EUR' });
  for await (const { id, disabled_at: at } of shop.sellers.list()) console.log(id, at);
  await shop.sellers.disable(seller.id);
  await shop.sellers.enable(seller.id);
  const created: CreatedKey = await shop.keys.create(seller.id, {
    name: 'ERP', scopes, allow: ['192.0.2.0/24'], expires: new Date(),
  });
  const rotated: Key = await shop.keys.rotate(created.id, 60_000);
  for await (const key of shop.keys.list(seller.id)) console.log(key.scopes, key.expires_at);
  await shop.keys.revoke(rotated.id);

  const catalogue = shop.as(seller.id);
  const { position } = await catalogue.products.create({
    name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40,
  }).catch((error: unknown) => {
    if (error instanceof AppError) console.error(error.code === 'sku_taken', error.issues[0]?.code);
    throw error;
  });
  await catalogue.stock.sync([{ sku: 'MUG-1', adjust: -1 }]);
  for await (const change of catalogue.changes({ after: position })) console.log(change.at);
  await catalogue.webhooks.create({ url: 'https://erp.example' });

  const response: Response = await shop.fetch(new Request('http://127.0.0.1/shop/api/v1/products'));
  console.log(response.status);
  createServer((request, reply) => shop.handle(request, reply, () => reply.end())).listen(3000);
  const listener = await shop.listen({ host: '127.0.0.1', port: 0 });
  await listener.stop();
  await shop.close();
  return listener;
}

export function receive(body: Uint8Array, headers: IncomingMessage['headers']): number {
  try {
    const event: WebhookEvent = verifyWebhook(body, headers, ['whsec_1', 'whsec_2']);
    return event.type === 'changes' ? event.data.changes.length : 0;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return -1;
    throw error;
  }
}
