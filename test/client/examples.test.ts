/**
 * Runs the examples in the comments of the package's public methods: those of a catalogue over a
 * socket and within the process. They use the routes under /changes, /imports and /webhooks.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { format } from 'node:util';
import { pathToFileURL } from 'node:url';
import { Imports } from '../../src/client/imports.ts';
import { type SellerApi as Catalogue, SellerClient } from '../../src/client/index.ts';
import { Report } from '../../src/client/lines.ts';
import { Products } from '../../src/client/products.ts';
import { SellerApi } from '../../src/client/seller-client.ts';
import { Stock } from '../../src/client/stock.ts';
import { Webhooks } from '../../src/client/webhooks.ts';
import { generateWebhookSecret, signMessage } from '../../src/domain/webhooks/webhook-signature.ts';
import { Keys, Sellers } from '../../src/embed/administration.ts';
import { createShop, type Shop } from '../../src/embed/shop.ts';
import { openStore } from '../../src/embed/shop-options.ts';
import type { Listener } from '../../src/index.ts';
import { makeCertificate } from '../support/certificate.ts';
import { type Example, readExamples, writeExamples } from '../support/examples.ts';
import { makeFolder } from '../support/folder.ts';
import { listenUntilEnd } from '../support/listening.ts';
import { processEnd } from '../support/process-end.ts';

const CLASSES = [Products, Stock, Imports, Webhooks, SellerApi, Report, Sellers, Keys];
/** Called by programs as functions, or with `new`. */
const FUNCTIONS = [
  'BeforeWrite', 'createShop', 'openStore', 'verifyWebhook', 'SellerClient.constructor',
];
const MODULES: Readonly<Record<string, string>> = {
  'seller-product-api': '../../src/index.ts',
  'seller-product-api/client': '../../src/client/index.ts',
  'seller-product-api/webhooks': '../../src/client/verify-webhook.ts',
};
const MUG = { name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 };
const CUP = { name: 'Red cup', category: 'Kitchen', sku: 'CUP-1', price: 8, stock: 5 };
/** Where the webhooks of examples send messages. */
const RECEIVER = 'https://erp.example';

const WORKING_DIRECTORY = process.cwd();
const folder = makeFolder(processEnd);
const examples = readExamples();
type Run = (given: Readonly<Record<string, unknown>>) => Promise<void>;
let runs: Readonly<Record<string, Run>> = {};
let shop: Shop;
let listener: Listener;
let receiver = '';

before(async () => {
  process.chdir(folder); // examples write files
  process.env['SELLER_API_KEY'] = 'spk_x';
  receiver = await listenUntilEnd(processEnd, (request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  });
  shop = await openShop();
  listener = await shop.listen({ host: '127.0.0.1', port: 0 });
  mkdirSync('program');
  const program = join(folder, 'program/examples.mts');
  writeFileSync(program, writeExamples(examples, (specifier) =>
    (MODULES[specifier] === undefined ? specifier : import.meta.resolve(MODULES[specifier])))
    .replaceAll(RECEIVER, receiver));
  ({ examples: runs } = await import(pathToFileURL(program).href));
});
after(async () => {
  process.chdir(WORKING_DIRECTORY);
  delete process.env['SELLER_API_KEY'];
  await shop.close();
});

function openShop(): Promise<Shop> {
  return createShop({ temporary: true }, {
    portal: true, webhooks: { allowPrivate: true, allowHttp: true },
  });
}

test('has an example of each public method', async () => {
  const own = await openShop();
  const store = await openStore({ folder: join(folder, 'store') });
  const { id } = await own.sellers.create({ name: 'My shop' });
  const objects = Object.entries({
    Shop: own, Listener: await own.listen({ host: '127.0.0.1', port: 0 }),
    Subscription: own.subscribe(id, { after: 0 }, () => {}),
  });
  const methods = [
    ...CLASSES.flatMap(({ name, prototype }) => Object.getOwnPropertyNames(prototype)
      .filter((member) => member !== 'constructor').map((member) => `${name}.${member}`)),
    ...objects.flatMap(([name, object]) => Object.entries(object)
      .filter(([, value]) => typeof value === 'function').map(([member]) => `${name}.${member}`)),
    'ShopStore.close', 'Stock.sync 2', ...FUNCTIONS,
  ];
  await Promise.all([own.close(), store.close()]);
  assert.deepEqual(examples.map(({ name }) => name).sort(), methods.sort());
});

/** What an example may use, with a new seller of two products. */
async function give(inShop: Shop, { name, code }: Example, isOverSocket: boolean) {
  const seller = await inShop.sellers.create({ name: 'My shop' });
  const api = inShop.as(seller.id);
  await api.products.create(MUG);
  await api.products.create(CUP);
  const { key } = await inShop.keys.create(seller.id, { name: 'examples' });
  const client: Catalogue = isOverSocket
    ? new SellerClient({ baseUrl: `http://127.0.0.1:${listener.port}`, key }) : api;
  const webhook = name.startsWith('Webhooks.')
    ? await api.webhooks.create({ url: `${receiver}/changes` }) : undefined;
  if (webhook && /deliver|resend/.test(code)) await api.webhooks.test(webhook.id);
  return { shop: inShop, seller, client, webhook };
}

async function run(example: Example, given: Readonly<Record<string, unknown>>): Promise<void> {
  const printed: string[] = [];
  const console = { log: (...values: readonly unknown[]) => printed.push(format(...values)) };
  const runExample = runs[example.name];
  assert.ok(runExample);
  await runExample({ ...given, console });
  let from = 0;
  for (const line of example.expected.map((text) => text.replaceAll(RECEIVER, receiver))) {
    const index = printed.indexOf(line, from);
    assert.ok(index >= 0, `prints ${JSON.stringify(line)}, but: ${JSON.stringify(printed)}`);
    from = index + 1;
  }
}

const OF_CATALOGUES = /^(?:Products|Stock|Imports|Webhooks|SellerApi|Report)\./;
for (const example of examples.filter(({ name }) => OF_CATALOGUES.test(name))) {
  for (const isOverSocket of [true, false]) {
    const door = isOverSocket ? 'over a socket' : 'within the process';
    test(`runs the example of ${example.name} ${door}`, async () => {
      await run(example, await give(shop, example, isOverSocket));
    });
  }
}

for (const example of examples.filter(({ name }) => !OF_CATALOGUES.test(name))) {
  test(`runs the example of ${example.name}`, async (t) => {
    const { cert, key } = makeCertificate({});
    writeFileSync('cert.pem', cert);
    writeFileSync('key.pem', key);
    const secret = generateWebhookSecret();
    const body = JSON.stringify({ type: 'changes', data: { changes: [{ sku: 'MUG-1' }] } });
    const headers = signMessage({ id: 'msg_1', at: Date.now(), body }, [secret]);
    const inShop = example.name === 'Shop.close' ? await openShop() : shop;
    t.after(() => (inShop === shop ? undefined : inShop.close()));
    await run(example, {
      ...await give(inShop, example, false), secret,
      request: new Request('https://erp.example', { method: 'POST', body, headers }),
      server: createServer(),
      listener: await inShop.listen({ host: '127.0.0.1', port: 0 }, { certificate: { cert, key } }),
    });
  });
}
