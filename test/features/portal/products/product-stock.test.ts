/** The stock of a product, changed by hand in the portal. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertPage } from '../page-rules.ts';
import { type Fields, readText } from '../page-client.ts';
import { type Catalogue, createWriteTarget, fieldErrorsFrom, readRows } from './catalogue.ts';

async function start(t: Parameters<typeof createWriteTarget>[0], stock: number) {
  const catalogue = await createWriteTarget(t);
  const mug = await catalogue.create({ stock });
  const { user, read } = catalogue;
  return {
    ...catalogue, mug,
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

/** The newest movement: how much, from what to what, why, from where, by whom. */
async function readNewest({ user }: Pick<Catalogue, 'user'>): Promise<string[]> {
  const [row = []] = readRows(await user.follow());
  return row.slice(1);
}

describe('goods that come or go', () => {
  test('move the stock by so many, for a reason', async (t) => {
    const { user, adjust, stock } = await start(t, 9);
    const added = await adjust({ amount: '5', amount_reason: ' delivery ', way: 'add' });
    assert.equal(added.status, 303);
    assert.deepEqual(
      await readNewest({ user }), ['+5', '9 → 14', 'delivery', '', 'Portal'],
    );
    assert.match(readText(user.page?.text ?? ''), /Stock updated/);
    assert.equal((await adjust({ amount: '3', way: 'take' })).status, 303);
    assert.deepEqual(await readNewest({ user }), ['-3', '14 → 11', '', '', 'Portal']);
    assert.equal(await stock(), 11);
  });

  test('move what is there, whatever happened since the page was opened', async (t) => {
    const { user, mug, sync, stock } = await start(t, 9);
    await user.get(mug.path);
    await sync([{ id: mug.id, set: 100 }]);
    const taken = await user.submit(
      { amount: '3', way: 'take' }, { action: `${mug.path}/adjust` },
    );
    assert.equal(taken.status, 303);
    assert.equal(await stock(), 97);
  });

  test('are no more than there are, and take the stock not beyond its limit', async (t) => {
    const { user, adjust, stock } = await start(t, 1_500);
    const refused = await adjust({ amount: '1501', amount_reason: 'sold', way: 'take' });
    assertPage(refused, 422);
    assert.deepEqual(fieldErrorsFrom(refused), { amount: 'Only 1,500 are in stock.' });
    const typed = ['amount', 'amount_reason'].map((name) => user.valueOf(name));
    assert.deepEqual(typed, ['1501', 'sold']);
    const tooMany = await adjust({ amount: '1000000000', way: 'add' });
    assertPage(tooMany, 422);
    assert.match(fieldErrorsFrom(tooMany)['amount'] ?? '', /beyond 1,000,000,000/);
    assert.equal(await stock(), 1_500);
  });

  test('that are faulty change nothing, and say so at their fields', async (t) => {
    const { adjust, stock } = await start(t, 9);
    for (const [fields, at, fault] of [
      [{ amount: '' }, 'amount', /blank/], [{ amount: 'x' }, 'amount', /whole number/],
      [{ amount: '-3' }, 'amount', /without a sign/], [{ amount: '1.5' }, 'amount', /whole number/],
      [{ amount: '1.000' }, 'amount', /thousands/],
      [{ amount: '9'.repeat(20) }, 'amount', /1,000,000,000/],
      [{ amount: '1', amount_reason: 'x'.repeat(201) }, 'amount_reason', /200/],
    ] as const) {
      const answer = await adjust({ ...fields, way: 'add' });
      assertPage(answer, 422);
      assert.match(fieldErrorsFrom(answer)[at] ?? '', fault);
    }
    assert.equal(await stock(), 9);
  });

  test('are counted once, however often the form is sent', async (t) => {
    const { user, mug, stock } = await start(t, 9);
    await user.get(mug.path);
    const body = new URLSearchParams({
      csrf: user.valueOf('csrf') ?? '', once: user.valueOf('once') ?? '', amount: '2',
      way: 'take',
    });
    const send = () => user.post(`${mug.path}/adjust`, body);
    const answers = [...await Promise.all([send(), send()]), await send()];
    assert.deepEqual(answers.map(({ status }) => status), [303, 303, 303]);
    assert.match(readText((await user.follow()).text), /already made. It was not made again/);
    assert.equal(await stock(), 7);
    body.set('amount', '3');
    const other = await send();
    assertPage(other, 409);
    assert.match(readText(other.text), /already submitted with different values/);
    assert.equal(await stock(), 7);
  });
});

describe('a count', () => {
  test('sets the stock to it, for a reason', async (t) => {
    const { user, set, stock } = await start(t, 9);
    assert.equal((await set({ set: '4', set_reason: 'count' })).status, 303);
    assert.deepEqual(await readNewest({ user }), ['-5', '9 → 4', 'count', '', 'Portal']);
    assert.equal(await stock(), 4);
    assert.equal((await set({ set: '4' })).status, 303);
    assert.match(readText((await user.follow()).text), /already had this value/);
  });

  test('is refused where the stock moved meanwhile, and taken when it is sent again', async (t) => {
    const { user, mug, sync, stock } = await start(t, 9);
    await user.get(mug.path);
    await sync([{ id: mug.id, adjust: -2 }]);
    const refused = await user.submit(
      { set: '8', set_reason: 'count' }, { action: `${mug.path}/stock` },
    );
    assertPage(refused, 409);
    assert.match(readText(refused.text), /it was 9 and is now 7\. If 8 is still correct/);
    assert.deepEqual(['set', 'set_reason', 'expect'].map((name) => user.valueOf(name)),
      ['8', 'count', '7']);
    assert.equal(await stock(), 7);
    const again = await user.submit({}, { action: `${mug.path}/stock` });
    assert.equal(again.status, 303);
    assert.equal(await stock(), 8);
  });

  test('that is faulty changes nothing', async (t) => {
    const { set, stock } = await start(t, 9);
    for (const [fields, at] of [
      [{ set: '' }, 'set'], [{ set: '-1' }, 'set'], [{ set: '1000000001' }, 'set'],
      [{ set: '5', expect: 'x' }, 'set'], [{ set: '5', expect: '9.00000000000000001' }, 'set'],
      [{ set: '0.9999999999999999999999' }, 'set'],
      [{ set: '5', set_reason: 'a\u2028b' }, 'set_reason'],
    ] as const) {
      const answer = await set(fields);
      assertPage(answer, 422);
      assert.deepEqual(Object.keys(fieldErrorsFrom(answer)), [at]);
    }
    assertPage(await set({ set: '5', once: '' }), 400);
    assertPage(await set({ set: '5', csrf: '' }), 403);
    assert.equal(await stock(), 9);
  });

  test('of a product that is gone is not found', async (t) => {
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
