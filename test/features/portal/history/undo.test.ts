/** The toast after a change, and its undo. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { UNDO_LIFE_MS } from '../../../../src/features/portal/limits.ts';
import type { PageClient } from '../page-client.ts';
import { readText } from '../page-client.ts';
import { assertPage } from '../page-rules.ts';
import { openCatalogue, openOther } from '../products/catalogue.ts';

/** The toast on the current page; empty without one. */
function readToast({ page }: PageClient): string {
  const found = /<div class="toast" role="status">(.*?)<\/div>/s.exec(page?.text ?? '');
  const [, toast = ''] = found ?? [];
  return readText(toast);
}

/** Submits the Undo form of the toast. */
async function undo(user: PageClient) {
  const [, action] = /action="(\/portal\/changes\/\d+\/undo)"/.exec(user.page?.text ?? '') ?? [];
  return user.submit({}, { action: action ?? assert.fail('no Undo form') });
}

describe('the page after a change describes the change', () => {
  test('to the stock, and undoes it', async (t) => {
    const { user, create, read } = await openCatalogue(t);
    const mug = await create({ name: 'Mug <1>', stock: 9 });
    await user.get(mug.path);
    await user.submit({ set: '12' }, { action: `${mug.path}/stock` });
    assertPage(await user.follow());
    assert.equal(readToast(user), 'Stock of Mug <1> set to 12 (+3).');
    assert.equal((await undo(user)).status, 303);
    assertPage(await user.follow());
    assert.equal(readToast(user), 'Stock of Mug <1> set to 9 (-3).');
    assert.equal((await read(mug))?.['stock'], 9);
    await user.submit({ amount: '2', way: 'take' }, { action: `${mug.path}/adjust` });
    await user.follow();
    assert.equal(readToast(user), 'Stock of Mug <1> set to 7 (-2).');
  });

  test('to other fields, and undoes it', async (t) => {
    const { user, create, read } = await openCatalogue(t);
    const mug = await create({ name: 'Mug', price: 12 });
    await user.get(mug.path);
    await user.submit({ name: 'Cup', price: '14' }, { action: mug.path });
    await user.follow();
    assert.equal(readToast(user), 'Cup saved. Name: Mug → Cup . Price: €12.00 → €14.00 .');
    await undo(user);
    const { name, price } = await read(mug) ?? assert.fail();
    assert.deepEqual([name, price], ['Mug', 12]);
  });

  test('when it deleted a product, and restores it', async (t) => {
    const { user, create, read } = await openCatalogue(t);
    const mug = await create({ name: 'Mug', stock: 4 });
    await user.get(`${mug.path}/delete`);
    await user.submit({}, { action: `${mug.path}/delete` });
    await user.follow();
    assert.equal(readToast(user), 'Mug deleted.');
    const answer = await undo(user);
    assert.ok(answer.headers.location?.startsWith(mug.path));
    assertPage(await user.follow());
    assert.equal(readToast(user), 'Mug created.');
    assert.equal((await read(mug))?.['stock'], 4);
    assert.equal((await undo(user)).headers.location?.split('?')[0], '/portal/products');
    await user.follow();
    assert.equal(readToast(user), 'Mug deleted.');
  });

  test('when it created a product, and deletes it', async (t) => {
    const { user } = await openCatalogue(t);
    await user.get('/portal/products/new');
    await user.submit({ name: 'Mug', category: 'Bar', sku: 'M', price: '1', stock: '1' });
    await user.follow();
    assert.equal(readToast(user), 'Mug created.');
    assert.equal((await undo(user)).headers.location?.split('?')[0], '/portal/products');
    assertPage(await user.follow());
    assert.equal(readToast(user), 'Mug deleted.');
    assertPage((await undo(user), await user.follow()));
    assert.equal(readToast(user), 'Mug created.');
  });
});

describe('an undo', () => {
  test('changes nothing if the product has changed since', async (t) => {
    const { user, create, read, sync } = await openCatalogue(t);
    const mug = await create({ stock: 9 });
    await user.get(mug.path);
    await user.submit({ set: '12' }, { action: `${mug.path}/stock` });
    await user.follow();
    await sync([{ id: mug.id, adjust: -1 }]);
    const answer = await undo(user);
    assertPage(answer, 409);
    assert.match(readText(answer.text),
      /Not undone Only its stock changed since, so nothing was undone\./);
    assert.equal((await read(mug))?.['stock'], 11);
  });

  test('of a deletion fails while another product has the SKU, and can be retried', async (t) => {
    const { user, create, read } = await openCatalogue(t);
    const mug = await create({ sku: 'MUG', stock: 9 });
    await user.get(`${mug.path}/delete`);
    await user.submit({}, { action: `${mug.path}/delete` });
    await user.follow();
    const other = await create({ sku: 'MUG' });
    const answer = await undo(user);
    assertPage(answer, 409);
    assert.match(readText(answer.text), /Not undone Another product has its SKU/);
    assert.doesNotMatch(answer.text, /View the product/);
    await user.get(other.path);
    await user.submit({ sku: 'CUP' }, { action: other.path });
    user.page = answer;
    assert.ok((await undo(user)).headers.location?.startsWith(mug.path));
    assert.equal((await read(mug))?.['stock'], 9);
  });

  test('of a new product does not delete it if it has changed since', async (t) => {
    const { user, sync } = await openCatalogue(t);
    await user.get('/portal/products/new');
    await user.submit({ name: 'Mug', category: 'Bar', sku: 'M', price: '1', stock: '1' });
    await user.follow();
    await sync([{ sku: 'M', adjust: 4 }]);
    const answer = await undo(user);
    assertPage(answer, 409);
    assert.match(readText(answer.text), /Only its stock changed since/);
    assert.match(answer.text, /View the product/);
  });

  test('takes effect once, however often its form is sent', async (t) => {
    const { user, create, read } = await openCatalogue(t);
    const mug = await create({ stock: 9 });
    await user.get(mug.path);
    await user.submit({ set: '12' }, { action: `${mug.path}/stock` });
    const { text } = await user.follow();
    const [, action = ''] = /action="([^"]*\/undo)"/.exec(text) ?? [];
    const body = new URLSearchParams(user.formOf(action).map(([name, value]) => [name, value]));
    const send = () => user.post(action, body);
    const answers = [...await Promise.all([send(), send()]), await send()];
    assert.deepEqual(answers.map(({ status }) => status), [303, 303, 303]);
    assert.equal((await read(mug))?.['stock'], 9);
  });

  test("is offered for an hour, and only for portal changes in the user's shop", async (t) => {
    const { server, user, create, sync, clock } = await openCatalogue(t);
    const mug = await create({ stock: 9 });
    await user.get(mug.path);
    await user.submit({ set: '12' }, { action: `${mug.path}/stock` });
    const page = (await user.follow(), `${mug.path}?change=2`);
    await sync([{ id: mug.id, set: 3 }]);
    const other = await openOther(server);
    await other.user.get('/portal/products?change=2');
    assert.equal(readToast(other.user), '');
    for (const change of ['3', '4', '0', 'x', '-1', '<b>', '9'.repeat(30)]) {
      await user.get(`${mug.path}?change=${encodeURIComponent(change)}`);
      assert.equal(readToast(user), '', change);
    }
    const csrf = user.valueOf('csrf') ?? '';
    for (const position of ['1', '3', '4', 'x']) {
      const form = new URLSearchParams({ csrf, once: crypto.randomUUID() });
      assertPage(await user.post(`/portal/changes/${position}/undo`, form), 404);
    }
    clock.now += UNDO_LIFE_MS - 1;
    await user.get(page);
    assert.notEqual(readToast(user), '');
    clock.now += 1;
    await user.get(page);
    assert.equal(readToast(user), '');
  });
});
