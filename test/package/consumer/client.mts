/** Every method and error of the client, as an integrator's program calls them. Never runs. */
import {
  ApiError, type Change, ConnectionError, InvalidDataError, type NewProduct, NotFoundError,
  PreconditionFailedError, type Product, RateLimitedError, ResyncRequiredError, SellerClient,
  SkuTakenError, StockRejectedError,
} from 'seller-product-api/client';

export async function useProducts(shop: SellerClient, signal: AbortSignal): Promise<Product[]> {
  const mug: NewProduct = {
    name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40,
  };
  const { id, position } = await shop.products.create(mug, { idempotencyKey: 'first', signal });
  const { sku: _, ...replacement } = mug;
  await shop.products.put('MUG-1', replacement, { createOnly: true });
  await shop.products.patch({ sku: 'MUG-1' }, { price: 13 }, { ifMatch: position });
  const changed: Product | undefined = await shop.products.getIfChanged(id, position);
  for await (const { sku, stock } of shop.products.list({ q: 'mug', sort: '-price', signal })) {
    console.log(sku.toUpperCase(), stock.toFixed(0));
  }
  const page = await shop.products.listPage({ fields: ['id', 'name'], limit: 10 });
  // @ts-expect-error Only the members that were asked for are there.
  console.log(page.products[0]?.name, page.next_cursor, page.products[0]?.price);
  const file = await shop.products.export({ format: 'csv', category: 'Kitchen' });
  for await (const bytes of file) console.log(bytes.byteLength, file.position);
  const report = await shop.products.import([{ sku: 'MUG-1', stock: 3 }], {
    mode: 'upsert', map: { name: 'Title' }, default: { stock: 0 },
  });
  for await (const row of report) console.log(row.line, row.status, row.errors?.[0]?.pointer);
  await shop.products.import([{ sku: 'MUG-1', barcode: null, metadata: { old: null } }]);
  // @ts-expect-error Only optional members can be removed.
  await shop.products.import([{ sku: 'MUG-1', name: null }]);
  const { created, ignored_columns: ignored = [] } = await report.summary();
  console.log(created, ignored.join());
  await shop.products.delete(id);
  return changed ? [changed, await shop.products.get({ sku: 'MUG-1' })] : [];
}

export async function useStock({ stock }: SellerClient): Promise<number> {
  const result = await stock.sync([
    { sku: 'MUG-1', adjust: -2, expect: 4 }, { id: 'prd_1', set: 0 },
  ], { source: 'till', atomic: true });
  for (const { status, previous } of result.results) console.log(status === 'stale', previous);
  const report = await stock.sync((async function* changes() {
    yield { sku: 'MUG-1', set: 3, sequence: 7 };
  })(), { report: 'failed' });
  for await (const { line, status } of report) console.log(line, status);
  for await (const level of stock.levels({ at: new Date(0) })) console.log(level.sku, level.stock);
  for await (const { before, after, reason } of stock.movements({ sku: 'MUG-1' })) {
    console.log(after - before, reason?.length);
  }
  return (await report.summary()).unchanged;
}

export async function useWebhooks({ webhooks }: SellerClient): Promise<string> {
  const { id, secret } = await webhooks.create({ url: 'https://erp.example', types: ['stock'] });
  for await (const { status } of webhooks.list()) console.log(status);
  await webhooks.patch(id, { description: 'ERP' });
  for await (const attempt of webhooks.deliveries(id)) console.log(attempt.outcome);
  console.log((await webhooks.test(id)).duration_ms, (await webhooks.replay(id, 0)).position);
  await webhooks.rotateSecret(id, '1h');
  console.log((await webhooks.get(id)).failing_since);
  await webhooks.delete(id);
  return secret;
}

export function describe(change: Change): string {
  switch (change.type) {
    case 'stock': return `${change.data.delta} of ${change.sku}`;
    case 'created': return change.data.name;
    default: return `${change.data.price} ${change.data.currency}`;
  }
}

export async function follow(baseUrl: string, key: string): Promise<void> {
  const shop = new SellerClient({ baseUrl, key, retries: 2, timeoutMs: 1_000, fetch });
  try {
    for await (const change of shop.changes({ after: 0, live: true })) {
      console.log(describe(change));
    }
  } catch (error) {
    if (error instanceof ResyncRequiredError) console.log(error.code);
    else if (error instanceof RateLimitedError) console.log(error.retryAfterSeconds?.toFixed());
    else if (error instanceof InvalidDataError) console.log(error.issues[0]?.pointer);
    else if (error instanceof SkuTakenError || error instanceof StockRejectedError
      || error instanceof NotFoundError || error instanceof PreconditionFailedError
      || error instanceof ApiError) console.log(error.status, error.problem.title);
    else if (!(error instanceof ConnectionError)) throw error;
  }
}
