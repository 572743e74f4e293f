/**
 * The package on unsupported older releases of Node, which npm has as packages: the server says
 * which Node it needs, and programs can still call the API and verify webhook messages.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { generateWebhookSecret, signMessage } from '../../src/domain/webhooks/webhook-signature.ts';
import { copyClone, MANIFEST, pack } from '../package/clone.ts';
import { installPackages } from '../support/install-packages.ts';
import { startServer } from '../support/server.ts';

const RELEASES = ['20.20.2', '22.23.5'];
const NODE = `node-${process.platform}-${process.arch}`;

const folder = mkdtempSync(join(tmpdir(), 'seller-api-old-node-'));
let archive = '';

before(async () => { archive = await pack(copyClone(join(folder, 'clone'))); });
after(() => rmSync(folder, { recursive: true, force: true }));

for (const release of RELEASES) {
  test(`on Node ${release}, the package says what it needs, and its client works`, async (t) => {
    const project = join(folder, release);
    mkdirSync(project);
    if (!await installPackages(t, project, [archive, `${NODE}@${release}`])) return;
    const run = (type: 'module' | 'commonjs', code: string) => promisify(execFile)(
      join(project, 'node_modules', NODE, 'bin/node'), [`--input-type=${type}`, '--eval', code],
      { cwd: project, env: {} });

    for (const [type, code] of [
      ['module', `import { createShop } from '${MANIFEST.name}';`],
      ['commonjs', `require('${MANIFEST.name}')`],
    ] as const) {
      const { stderr } = await run(type, code).then(() => assert.fail(), (error) => error);
      assert.match(stderr, new RegExp(
        `Node 24\\.15 or newer is needed, and this is v${RegExp.escape(release)}\\.`));
      assert.doesNotMatch(stderr, /sqlite|^ {4}at /m);
    }

    const { port, makeSeller } = await startServer(t);
    const { key } = await makeSeller();
    const server = JSON.stringify({ baseUrl: `http://127.0.0.1:${port}`, key });
    const secret = generateWebhookSecret();
    const body = '{"type":"stock"}';
    const fields = signMessage({ id: 'msg_1', at: Date.now(), body }, [secret]);
    const { stdout } = await run('module', `
      import { ConnectionError, SellerClient } from '${MANIFEST.name}/client';
      import { verifyWebhook } from '${MANIFEST.name}/webhooks';
      const { products } = new SellerClient(${server});
      await products.create({ name: 'Mug', category: 'Kitchen', sku: 'A', price: 1, stock: 2 });
      const rows = await products.import('name,category,sku,price,stock\\nCup,Kitchen,B,1,2\\n');
      for await (const row of rows) console.log(row);
      console.log((await rows.summary()).created);
      for await (const { sku } of products.list()) console.log(sku);
      const nobody = new SellerClient({ baseUrl: 'http://127.0.0.1:9', key: 'spk_' });
      await nobody.products.list().next().catch((error) => {
        console.log(error instanceof ConnectionError);
      });
      console.log(JSON.stringify(verifyWebhook(
        ${JSON.stringify(body)}, ${JSON.stringify(fields)}, ${JSON.stringify(secret)})));`);
    assert.equal(stdout, `1\nA\nB\ntrue\n${body}\n`);
  });
}
