/** An interrupted transfer: partial files are removed, and one line says what remains. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { generateApiKey } from '../../src/domain/access/api-key.ts';
import { spawnCommand } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { CSV_EXPORT, startFakeServer } from './transfer/fake-server.ts';

const KEY = generateApiKey();
const FAILURE = JSON.stringify({
  line: 3, sku: 'X', status: 'failed', errors: [{ pointer: '/sku', detail: 'No.' }],
});

for (const [signal, status] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]] as const) {
  test(`removes a partial export on ${signal}`, async (t) => {
    const folder = makeFolder(t);
    const path = join(folder, 'all.csv');
    const url = await startFakeServer(t, (_, response) => {
      response.writeHead(200, CSV_EXPORT).write('sku\r\n');
    });
    const child = spawnCommand(['export', path], { SELLER_API_URL: url, SELLER_API_KEY: KEY });
    t.after(() => { child.kill('SIGKILL'); });
    const notes = text(child.stderr);
    const isBegun = (): boolean => readdirSync(folder).some((name) => name.endsWith('.part'));
    while (!isBegun()) await wait(5);
    assert.ok(readdirSync(folder).every((name) => /^all\.csv\.[\da-f-]+\.part/.test(name)));
    child.kill(signal);
    assert.deepEqual((await once(child, 'close'))[0], status);
    assert.equal(await notes, `Interrupted: ${path} was not written.\n`);
    assert.deepEqual(readdirSync(folder), []);
  });

  test(`removes the rejected rows of an import, and says what remains, on ${signal}`, async (t) => {
    const folder = makeFolder(t);
    const path = join(folder, 'products.csv');
    writeFileSync(path, 'name,category,sku,price,stock\nA,B,C,1,1\nA,B,X,1,1\n');
    const url = await startFakeServer(t, (request, response) => {
      request.resume();
      response.write(`${FAILURE}\n`);
    });
    const child = spawnCommand(['import', path], { SELLER_API_URL: url, SELLER_API_KEY: KEY });
    t.after(() => { child.kill('SIGKILL'); });
    const notes = text(child.stderr);
    while (readdirSync(folder).length === 1) await wait(5);
    child.kill(signal);
    assert.deepEqual((await once(child, 'close'))[0], status);
    const says = 'Imported rows stay. Run the command again to import the rest.';
    assert.equal(await notes, `Interrupted. ${says}\n`);
    assert.deepEqual(readdirSync(folder), ['products.csv']);
  });
}
