/** Deleting a product in the portal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PORTAL_KEY_ID } from '../../../../src/domain/id.ts';
import { assertPage } from '../page-rules.ts';
import { readText } from '../page-client.ts';
import { createWriteTarget } from './catalogue.ts';

test('asks, and deletes what it has shown', async (t) => {
  const { user, create, read, server, sellerId } = await createWriteTarget(t);
  const mug = await create({ name: 'Mug', stock: 9 });
  await user.get(mug.path);
  assert.ok(user.page?.text.includes(`href="${mug.path}/delete"`));
  const asked = await user.get(`${mug.path}/delete`);
  assertPage(asked);
  assert.match(readText(asked.text), /Delete this product\? Name Mug SKU .* Stock 9/);
  assert.ok(await read(mug));
  assert.equal((await user.submit({}, { action: `${mug.path}/delete` })).status, 303);
  const list = await user.follow();
  assertPage(list);
  assert.match(readText(list.text), /Product deleted/);
  assert.equal(await read(mug), undefined);
  for (const path of [mug.path, `${mug.path}/delete`]) assertPage(await user.get(path), 404);
  const { changes } = await server.store.listChanges(sellerId, { after: 1, limit: 10 });
  assert.deepEqual(changes.map(({ type, keyId }) => [type, keyId]), [['deleted', PORTAL_KEY_ID]]);
});

test('deletes nothing that was changed since it asked, and asks again', async (t) => {
  const { user, create, read, sync } = await createWriteTarget(t);
  const mug = await create({ stock: 9 });
  await user.get(`${mug.path}/delete`);
  await sync([{ id: mug.id, set: 500 }]);
  const refused = await user.submit({}, { action: `${mug.path}/delete` });
  assertPage(refused, 409);
  assert.match(readText(refused.text), /edited this product, so it was not deleted.* Stock 500/);
  assert.ok(await read(mug));
  for (const position of ['', 'x', '1', '-1', '2e0', '2.00000000000000001']) {
    const answer = await user.submit({ position }, { action: `${mug.path}/delete` });
    assertPage(answer, 409);
  }
  assertPage(await user.submit({ csrf: 'x' }, { action: `${mug.path}/delete` }), 403);
  await user.get(`${mug.path}/delete`);
  assert.equal((await user.submit({}, { action: `${mug.path}/delete` })).status, 303);
  assert.equal(await read(mug), undefined);
});

test('takes a second click for the first one', async (t) => {
  const { user, create } = await createWriteTarget(t);
  const mug = await create();
  await user.get(`${mug.path}/delete`);
  const body = new URLSearchParams(['csrf', 'once', 'position'].map((name) =>
    [name, user.valueOf(name) ?? '']));
  const send = () => user.post(`${mug.path}/delete`, body);
  const answers = [...await Promise.all([send(), send()]), await send()];
  assert.deepEqual(answers.map(({ headers }) => headers.location),
    Array.from({ length: 3 }, () => '/portal/products?done=deleted'));
});
