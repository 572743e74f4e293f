/** The client in a web page of a program that signs its users in itself, and in its worker. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { createShop } from '../../src/embed/shop.ts';
import { listenUntilEnd } from '../support/listening.ts';
import { openBrowser } from './browser.ts';
import { waitFor } from './wait.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Does what a page may do, and returns what it saw. */
const TASK = `
  import { SellerClient, SkuTakenError } from '/src/client/index.ts';

  export async function run(sku) {
    const shop = new SellerClient({ baseUrl: location.origin, key: null });
    const mug = { name: 'Mug', category: 'Kitchen', sku, price: 12.5, stock: 40 };
    const { position } = await shop.products.create(mug);
    const taken = await shop.products.create(mug).catch((error) => error);
    await shop.stock.sync([{ sku, adjust: -2 }]);
    const report = await shop.products.import('sku,price\\n' + sku + ',13\\n', { mode: 'update' });
    const { updated } = await report.summary();
    const changes = [];
    for await (const { type } of shop.changes({ after: position, live: true })) {
      if (changes.push(type) === 2) break;
    }
    const file = await shop.products.export({ format: 'csv', sku });
    let text = '';
    for await (const chunk of file) text += new TextDecoder().decode(chunk);
    const { price, stock } = await shop.products.get({ sku });
    return [taken instanceof SkuTakenError, updated, changes, price, stock, text.includes(sku)];
  }`;
const PAGE = `<!doctype html><link rel="icon" href="data:,"><title>Running</title>
  <script type="module" src="/page.js"></script>`;
const PAGE_SCRIPT = `
  import { run } from '/task.js';
  try {
    const page = await run('PAGE-1');
    const worker = new Worker('/worker.js', { type: 'module' });
    worker.onmessage = ({ data }) => {
      document.title = JSON.stringify([page, data]);
    };
    worker.onerror = (event) => { document.title = 'Failed: ' + event.message; };
  } catch (error) {
    document.title = 'Failed: ' + error;
  }`;
const WORKER = `
  import { run } from '/task.js';
  postMessage(await run('WORKER-1').catch(String));`;

const SCRIPTS: Readonly<Record<string, string>> = {
  '/page.js': PAGE_SCRIPT, '/task.js': TASK, '/worker.js': WORKER,
};

test('works in a page and in a worker of Chromium', async (t) => {
  let sellerId = '';
  const shop = await createShop({ temporary: true }, {
    allowBrowsers: true,
    authenticate: ({ headers }) =>
      (headers.cookie === 'session=1' ? { seller: sellerId, actor: 'user 1' } : undefined),
  });
  t.after(() => shop.close());
  sellerId = (await shop.sellers.create({ name: 'Shop' })).id;
  const site = await listenUntilEnd(t, async (request, response) => {
    const { url = '' } = request;
    if (url === '/') {
      return response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'session=1' })
        .end(PAGE);
    }
    if (!url.startsWith('/src/') && !SCRIPTS[url]) return shop.handle(request, response);
    const script = SCRIPTS[url]
      ?? stripTypeScriptTypes(await readFile(join(ROOT, url), 'utf8'));
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
  });
  const browser = await openBrowser(t);
  await browser.open(site);
  const title = await waitFor('the client to end', async () => {
    const text = await browser.title();
    return text !== 'Running' && text;
  });
  const seen = [true, 1, ['stock', 'updated'], 13, 38, true];
  assert.deepEqual(JSON.parse(title), [seen, seen]);
});
