/** Pages that were opened before a catalogue was set back: their forms and links are recognized. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { putGeneration } from '../../../src/store/sqlite/engine/database-file.ts';
import { makeDataFolder } from '../../support/folder.ts';
import { startServer } from '../../support/server.ts';
import { openOther } from './products/catalogue.ts';
import { PageClient } from './page-client.ts';

test('a page from before a restore changes and shows nothing by its positions', async (t) => {
  const folder = makeDataFolder(t);
  let user: PageClient | undefined;
  let [path, next] = ['', ''];
  await t.test('before', async (t1) => {
    const server = await startServer(t1, { folder, portal: true });
    const shop = await openOther(server);
    ({ path } = await shop.create());
    for (let count = 0; count < 60; count += 1) await shop.create();
    user = shop.user;
    const { text } = await user.get('/portal/products');
    next = /href="([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    assert.match((await user.get(`${path}/delete`)).text, /name="position" value="1"/);
  });
  const db = new DatabaseSync(join(folder, 'catalogue.db'));
  putGeneration(db);
  db.close();
  await t.test('after', async (t1) => {
    const server = await startServer(t1, { folder, portal: true });
    const old = user ?? assert.fail('nobody is signed in');
    const browser = new PageClient(server.port);
    for (const [name, value] of old.cookies) browser.cookies.set(name, value);
    assert.match((await browser.get(next)).text, /no longer valid\. This is the first page/);
    const page = await browser.get(`${path}/delete`);
    const [, revision = ''] = /name="position" value="([a-z2-7]{5}-1)"/.exec(page.text) ?? [];
    assert.notEqual(revision, '');
    const stale = await browser.submit({ position: '1' });
    assert.deepEqual([stale.status, /The product has changed/.test(stale.text)], [409, true]);
    const deleted = await browser.submit({ position: revision });
    assert.equal(deleted.status, 303, deleted.text);
    const { location = '' } = deleted.headers;
    assert.match(location, /\?change=[a-z2-7]{5}-62$/);
    const undo = (text: string): boolean => /\/changes\/[a-z2-7]{5}-62\/undo/.test(text);
    assert.ok(undo((await browser.get(location)).text));
    assert.ok(!undo((await browser.get('/portal/products?change=62')).text));
    assert.match((await browser.get('/portal/products')).text,
      /data-live-after="[a-z2-7]{5}-62"/);
  });
});
