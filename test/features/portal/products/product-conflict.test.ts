/** Concurrent edits of one product: merged where they can be, otherwise decided by the user. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PORTAL_KEY_ID } from '../../../../src/domain/id.ts';
import type { Answer } from '../../../support/http.ts';
import { assertPage } from '../page-rules.ts';
import { readText } from '../page-client.ts';
import { openCatalogue } from './catalogue.ts';

const MUG = { name: 'Mug', category: 'Kitchen', sku: 'M', price: 1 };

/** The choices of the conflict page: the labels of both versions, by field. */
function readChoices({ text }: Answer): Record<string, string[]> {
  const groups = [...text.matchAll(/<fieldset\b.*?<legend>(.*?)<\/legend>(.*?)<\/fieldset>/gs)];
  return Object.fromEntries(groups.map(([, legend = '', content = '']) => [
    readText(legend), [...content.matchAll(/<label\b.*?<\/label>/gs)].map(([one]) => readText(one)),
  ]));
}

test('merges fields that one side changed, and names those it kept', async (t) => {
  const { user, create, patch, read } = await openCatalogue(t);
  const mug = await create(MUG);
  await user.get(mug.path);
  await patch(mug, { price: 3, category: 'Bar' });
  const saved = await user.submit({ name: 'Cup' }, { action: mug.path });
  assert.equal(saved.status, 303, saved.text);
  const page = readText((await user.follow()).text);
  assert.match(page, /saved\. .* Someone else edited this product .* were kept: Category, Price\./);
  const { name, category, sku, price } = await read(mug) ?? {};
  assert.deepEqual([name, category, sku, price], ['Cup', 'Bar', 'M', 3]);
});

test('shows both versions of a field that both sides changed, and saves nothing yet',
  async (t) => {
    const { user, create, patch, read } = await openCatalogue(t);
    const mug = await create(MUG);
    await user.get(mug.path);
    await patch(mug, { name: 'Beaker', price: 3 });
    const theirs = await read(mug);
    const answer = await user.submit({ name: 'Cup', sku: 'CUP' }, { action: mug.path });
    assertPage(answer, 409);
    assert.match(answer.text, /<h1>Someone else edited this product<\/h1>/);
    assert.deepEqual(readChoices(answer), {
      Name: ['Overwrite with my version: Cup', 'Discard my change, keep: Beaker'],
    });
    const text = readText(answer.text);
    assert.match(text, /SKU CUP \(changed by you\) Price 3\.00 \(changed by them\)/);
    assert.match(answer.text, new RegExp(`href="${mug.path}">Discard my changes</a>`));
    assert.deepEqual(await read(mug), theirs);
  });

test('saves the chosen version of each field', async (t) => {
  const { user, create, patch, read } = await openCatalogue(t);
  const mug = await create(MUG);
  await user.get(mug.path);
  await patch(mug, { name: 'Beaker', price: 3, category: 'Bar' });
  await user.submit({ name: 'Cup', price: '2,5', sku: 'CUP' }, { action: mug.path });
  const saved = await user.submit({ choice_name: 'mine', choice_price: 'theirs' });
  assert.equal(saved.status, 303, saved.text);
  const { name, category, sku, price } = await read(mug) ?? {};
  assert.deepEqual([name, category, sku, price], ['Cup', 'Bar', 'CUP', 3]);
});

test('asks again for a missing choice, and keeps the others', async (t) => {
  const { user, create, patch, read } = await openCatalogue(t);
  const mug = await create(MUG);
  await user.get(mug.path);
  await patch(mug, { name: 'Beaker', price: 3 });
  const theirs = await read(mug);
  await user.submit({ name: 'Cup', price: '2' }, { action: mug.path });
  for (const wrong of [undefined, '', 'both']) {
    const answer = await user.submit({ choice_name: 'theirs', choice_price: wrong });
    assertPage(answer, 409);
    assert.deepEqual(Object.keys(readChoices(answer)), ['Name', 'Price']);
    assert.match(readText(answer.text), /Price: Choose which version to save\./);
    assert.match(answer.text, /name="choice_name" value="theirs" checked required/);
    assert.deepEqual(await read(mug), theirs);
  }
  assert.equal((await user.submit({ choice_name: 'theirs', choice_price: 'mine' })).status, 303);
  const { name, price } = await read(mug) ?? {};
  assert.deepEqual([name, price], ['Beaker', 2]);
});

test('asks again about a field that a third edit changed after the choice', async (t) => {
  for (const choice of ['mine', 'theirs']) {
    const { user, create, patch, read } = await openCatalogue(t);
    const mug = await create(MUG);
    await user.get(mug.path);
    await patch(mug, { name: 'Beaker' });
    await user.submit({ name: 'Cup' }, { action: mug.path });
    await patch(mug, { name: 'Jar', price: 4 });
    const again = await user.submit({ choice_name: choice });
    assertPage(again, 409);
    assert.deepEqual(readChoices(again), {
      Name: ['Overwrite with my version: Cup', 'Discard my change, keep: Jar'],
    });
    assert.equal((await user.submit({ choice_name: choice })).status, 303);
    const { name, price } = await read(mug) ?? {};
    assert.deepEqual([name, price], [choice === 'mine' ? 'Cup' : 'Jar', 4]);
  }
});

test('detects an edit between reading and saving the product', async (t) => {
  const { user, create, patch, sync, read, server } = await openCatalogue(t);
  const mug = await create(MUG);
  const save = server.store.patchProduct.bind(server.store);
  let before = async (): Promise<void> => {};
  t.mock.method(server.store, 'patchProduct', async (...args: Parameters<typeof save>) => {
    if (args[0].keyId === PORTAL_KEY_ID) await before();
    return save(...args);
  });
  let stock = 100;
  const sell = () => sync([{ id: mug.id, set: stock -= 1 }]);
  const tryEdit = async (name: string) => {
    await user.get(mug.path);
    return user.submit({ name }, { action: mug.path });
  };
  before = async () => { if (stock > 95) await sell(); };
  assert.equal((await tryEdit('Cup')).status, 303);
  before = () => patch(mug, { name: 'Vase' });
  assertPage(await tryEdit('Jar'), 409);
  before = sell;
  const rejected = await tryEdit('Jar');
  assertPage(rejected, 503);
  assert.match(readText(rejected.text), /keeps changing/);
  const { name, stock: last } = await read(mug) ?? {};
  assert.deepEqual([name, last], ['Vase', 85]);
});

test('asks nothing if both sides made the same change', async (t) => {
  const { user, create, patch } = await openCatalogue(t);
  const mug = await create();
  await user.get(mug.path);
  await patch(mug, { name: 'Cup' });
  const answer = await user.submit({ name: 'Cup' }, { action: mug.path });
  assert.equal(answer.headers.location, `${mug.path}?done=saved`);
});

test('asks about every difference if the base of the form is missing',
  async (t) => {
    const { user, create, read } = await openCatalogue(t);
    const mug = await create(MUG);
    const theirs = await read(mug);
    for (const base of [undefined, '', 'x', '[]', '["Mug","Kitchen","M","1"]', '[1,2,3,4]', '{}']) {
      await user.get(mug.path);
      const answer = await user.submit({ base, name: 'Cup' }, { action: mug.path });
      assertPage(answer, 409);
      assert.deepEqual(Object.keys(readChoices(answer)), ['Name']);
      assert.deepEqual(await read(mug), theirs);
    }
  });

test('offers to create a deleted product again, with the entered values', async (t) => {
  const { user, create, send, read } = await openCatalogue(t);
  const mug = await create({ sku: 'M', stock: 7 });
  await user.get(mug.path);
  await send({ method: 'DELETE', path: `/api/v1/products/${mug.id}` });
  const answer = await user.submit({ name: 'Cup', price: '2,5' }, { action: mug.path });
  assertPage(answer, 404);
  assert.match(readText(answer.text), /Your changes were not saved/);
  assert.deepEqual(
    ['name', 'sku', 'price', 'stock'].map((name) => user.valueOf(name)),
    ['Cup', 'M', '2,5', '0'],
  );
  assert.equal((await user.submit({ stock: '3' })).status, 303);
  assert.match(user.page?.headers.location ?? '', /change=/);
  assert.equal(await read(mug), undefined);
  assert.equal((await send({ path: '/api/v1/products' })).json().products[0].name, 'Cup');
});
