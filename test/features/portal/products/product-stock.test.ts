/** Manual stock changes in the portal. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertPage } from '../page-rules.ts';
import { type Fields, readText } from '../page-client.ts';
import { type Catalogue, openCatalogue, readFieldErrors, readRows } from './catalogue.ts';

async function start(t: Parameters<typeof openCatalogue>[0], stock: number) {
  const catalogue = await openCatalogue(t);
  const mug = await catalogue.create({ name: 'Mug', stock });
  const { user, read } = catalogue;
  return {
    ...catalogue, mug, name: catalogue.email.split('@')[0] ?? '',
    stock: async () => (await read(mug))?.['stock'],
    async adjust(fields: Fields) {
      await user.get(mug.path);
      return user.submit(fields, { action: `${mug.path}/adjust` });
    },
    async set(fields: Fields) {
      await user.get(mug.path);
      return user.submit(fields, { action: `${mug.path}/stock` });
    },
  };
}

/** The newest movement: its delta, stock, reason, source and actor. */
async function readNewest({ user }: Pick<Catalogue, 'user'>): Promise<string[]> {
  const [row = []] = readRows(await user.follow());
  return row.slice(1);
}

describe('an adjustment', () => {
  test('adds to the stock or removes from it, with a reason', async (t) => {
    const { user, name, adjust, stock } = await start(t, 9);
    const added = await adjust({ amount: '5', amount_reason: ' delivery ', way: 'add' });
    assert.equal(added.status, 303);
    assert.deepEqual(
      await readNewest({ user }), ['+5', '9 → 14', 'delivery', '', name, ''],
    );
    assert.match(readText(user.page?.text ?? ''), /Stock of Mug set to 14 \(\+5\)/);
    assert.equal((await adjust({ amount: '3', way: 'take' })).status, 303);
    assert.deepEqual(await readNewest({ user }), ['-3', '14 → 11', '', '', name, '']);
    assert.equal(await stock(), 11);
  });

  test('applies to the current stock, not to the one shown', async (t) => {
    const { user, mug, sync, stock } = await start(t, 9);
    await user.get(mug.path);
    await sync([{ id: mug.id, set: 100 }]);
    const taken = await user.submit(
      { amount: '3', way: 'take' }, { action: `${mug.path}/adjust` },
    );
    assert.equal(taken.status, 303);
    assert.equal(await stock(), 97);
  });

  test('removes no more than is in stock, and adds no more than fits', async (t) => {
    const { user, adjust, stock } = await start(t, 1_500);
    const rejected = await adjust({ amount: '1501', amount_reason: 'sold', way: 'take' });
    assertPage(rejected, 422);
    assert.deepEqual(readFieldErrors(rejected), { amount: 'Only 1,500 in stock.' });
    const typed = ['amount', 'amount_reason'].map((name) => user.valueOf(name));
    assert.deepEqual(typed, ['1501', 'sold']);
    const tooMany = await adjust({ amount: '1000000000', way: 'add' });
    assertPage(tooMany, 422);
    assert.match(readFieldErrors(tooMany)['amount'] ?? '', /above 1,000,000,000/);
    assert.equal(await stock(), 1_500);
  });

  test('changes nothing if it is invalid, with an error at its field', async (t) => {
    const { adjust, stock } = await start(t, 9);
    for (const [fields, at, error] of [
      [{ amount: '' }, 'amount', /blank/], [{ amount: 'x' }, 'amount', /whole number/],
      [{ amount: '-3' }, 'amount', /positive/], [{ amount: '1.5' }, 'amount', /whole number/],
      [{ amount: '1.000' }, 'amount', /thousands/],
      [{ amount: '9'.repeat(20) }, 'amount', /1,000,000,000/],
      [{ amount: '1', amount_reason: 'x'.repeat(201) }, 'amount_reason', /200/],
    ] as const) {
      const answer = await adjust({ ...fields, way: 'add' });
      assertPage(answer, 422);
      assert.match(readFieldErrors(answer)[at] ?? '', error);
    }
    assert.equal(await stock(), 9);
  });

  test('is made once, however often the form is sent', async (t) => {
    const { user, mug, stock } = await start(t, 9);
    await user.get(mug.path);
    const body = new URLSearchParams({
      csrf: user.valueOf('csrf') ?? '', once: user.valueOf('once') ?? '', amount: '2',
      way: 'take',
    });
    const send = () => user.post(`${mug.path}/adjust`, body);
    const answers = [...await Promise.all([send(), send()]), await send()];
    assert.deepEqual(answers.map(({ status }) => status), [303, 303, 303]);
    assert.match(readText((await user.follow()).text), /already submitted this change/);
    assert.equal(await stock(), 7);
    body.set('amount', '3');
    const other = await send();
    assertPage(other, 409);
    assert.match(readText(other.text), /already submitted this form with different/);
    assert.equal(await stock(), 7);
  });
});

describe('a stocktake', () => {
  test('sets the stock, with a reason', async (t) => {
    const { user, name, set, stock } = await start(t, 9);
    assert.equal((await set({ set: '4', set_reason: 'count' })).status, 303);
    assert.deepEqual(await readNewest({ user }), ['-5', '9 → 4', 'count', '', name, '']);
    assert.equal(await stock(), 4);
    assert.equal((await set({ set: '4' })).status, 303);
    assert.match(readText((await user.follow()).text), /already had this value/);
  });

  test('is rejected if the stock has changed since, and accepted when sent again', async (t) => {
    const { user, mug, sync, stock } = await start(t, 9);
    await user.get(mug.path);
    await sync([{ id: mug.id, adjust: -2 }]);
    const rejected = await user.submit(
      { set: '8', set_reason: 'count' }, { action: `${mug.path}/stock` },
    );
    assertPage(rejected, 409);
    assert.match(readText(rejected.text), /from 9 to 7\. If 8 is still correct/);
    assert.deepEqual(['set', 'set_reason', 'expect'].map((name) => user.valueOf(name)),
      ['8', 'count', '7']);
    assert.equal(await stock(), 7);
    const again = await user.submit({}, { action: `${mug.path}/stock` });
    assert.equal(again.status, 303);
    assert.equal(await stock(), 8);
  });

  test('changes nothing if it is invalid', async (t) => {
    const { set, stock } = await start(t, 9);
    for (const [fields, at] of [
      [{ set: '' }, 'set'], [{ set: '-1' }, 'set'], [{ set: '1000000001' }, 'set'],
      [{ set: '5', expect: 'x' }, 'set'], [{ set: '5', expect: '9.00000000000000001' }, 'set'],
      [{ set: '0.9999999999999999999999' }, 'set'],
      [{ set: '5', set_reason: 'a\u2028b' }, 'set_reason'],
    ] as const) {
      const answer = await set(fields);
      assertPage(answer, 422);
      assert.deepEqual(Object.keys(readFieldErrors(answer)), [at]);
    }
    assertPage(await set({ set: '5', once: '' }), 400);
    assertPage(await set({ set: '5', csrf: '' }), 403);
    assert.equal(await stock(), 9);
  });

  test('answers 404 for a deleted product', async (t) => {
    const { user, mug, send } = await start(t, 9);
    await user.get(mug.path);
    const fields = { csrf: user.valueOf('csrf') ?? '', set: '1', expect: '9', amount: '1' };
    await send({ method: 'DELETE', path: `/api/v1/products/${mug.id}` });
    for (const end of ['stock', 'adjust']) {
      const body = new URLSearchParams({ ...fields, once: crypto.randomUUID() });
      assertPage(await user.post(`${mug.path}/${end}`, body), 404);
    }
  });
});
