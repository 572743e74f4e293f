/** Each endpoint gets every change at least once, in order, independently of other endpoints. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { formatChange } from '../../../src/domain/catalogue/change.ts';
import { formatWebhookId } from '../../../src/domain/id.ts';
import { holdTimers } from '../../support/held-timers.ts';
import { countTo, makeActor } from '../../store/contract/fixture.ts';
import { openStore } from '../../store/sqlite/open.ts';
import { prepareSending } from './fixture.ts';
import { answerWith, OK, positionsOf, startReceiver } from './receiver.ts';

test('sends every change in order, up to a hundred per message', async (t) => {
  const { store, actor, clock, reports, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t);
  await sending.change(1);
  const webhook = await sending.create(receiver.url);
  await sending.change(250);
  sending.start();
  await receiver.until((received) => positionsOf(received).length === 250);
  assert.deepEqual(positionsOf(receiver.received), countTo(251).slice(1));
  assert.deepEqual(receiver.received.map(({ body }) => body.data.changes.length), [100, 100, 50]);
  const [first] = receiver.received;
  const page = await store.listChanges(actor.sellerId, { after: 1, limit: 100 });
  assert.deepEqual(first?.body, {
    type: 'changes', timestamp: new Date(clock.now).toISOString(),
    data: {
      webhook_id: formatWebhookId(webhook), first_position: 2, last_position: 101,
      changes: page.changes.map((change) => JSON.parse(formatChange(change))),
    },
  });
  await sending.change(1);
  await receiver.until(({ length }) => length === 4);
  const { message } = await sending.until(webhook, ({ position }) => position === 252);
  assert.equal(message, undefined);
  assert.deepEqual(reports, []);
});

test('sends each seller only changes of its own catalogue', async (t) => {
  const { store, ...sending } = await prepareSending(t);
  const [one, other] = [await startReceiver(t), await startReceiver(t)];
  const actor = await makeActor(store);
  await sending.create(one.url);
  const foreign = await sending.create(other.url, {}, actor);
  sending.start();
  await sending.change(3);
  await one.until((received) => positionsOf(received).length === 3);
  await sending.change(1, actor);
  await other.until((received) => positionsOf(received).length === 1);
  assert.equal(other.received[0]?.body.data.webhook_id, formatWebhookId(foreign));
});

test('skips changes of other types', async (t) => {
  const { store, actor, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t);
  const webhook = await sending.create(receiver.url, { types: ['stock', 'deleted'] });
  sending.start();
  await sending.change(200);
  await sending.until(webhook, ({ position }) => position === 200);
  assert.deepEqual(receiver.received, []);
  const [product] = (await store.listProducts(actor.sellerId, { after: undefined, limit: 1 }))
    .products;
  assert.ok(product);
  await store.patchProduct(actor, product, { stock: 1 }, {});
  await store.patchProduct(actor, product, { name: 'Another' }, {});
  await store.deleteProduct(actor, product, {});
  await sending.until(webhook, ({ position, message }) => position === 203 && !message);
  assert.deepEqual(positionsOf(receiver.received), [201, 203]);
});

test('retries a message with the same id and body, with exponential backoff', async (t) => {
  const { store, clock, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t, answerWith(500));
  const webhook = await sending.create(receiver.url);
  sending.start();
  await sending.change(3);
  const waits: number[] = [];
  for (let failures = 1; failures <= 18; failures += 1) {
    const failed = await sending.until(webhook, (found) => found.failures === failures);
    waits.push((failed.nextAttemptAt - clock.now) / 1000);
    clock.now = failed.nextAttemptAt;
    await sending.change(1); // triggers a poll
  }
  assert.deepEqual(waits.slice(0, 5), [5, 10, 20, 40, 80]);
  assert.deepEqual(waits.slice(-4), [81_920, 86_400, 86_400, 86_400]);
  receiver.answer = OK;
  await receiver.until((received) => positionsOf(received).includes(21));
  const attempts = receiver.received.filter(({ body }) => body.data.first_position === 1);
  assert.ok(attempts.length >= 18);
  assert.equal(new Set(attempts.map(({ id }) => id)).size, 1);
  assert.equal(new Set(attempts.map(({ text }) => text)).size, 1);
  const recovered = await sending.until(webhook, ({ position }) => position === 21);
  assert.deepEqual([recovered.failures, recovered.failingSince], [0, undefined]);
  const log = await store.listWebhookAttempts(webhook, { before: undefined, limit: 200 });
  const failures = log.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'delivered');
  assert.deepEqual(failures.slice(0, 18), Array(18).fill('responded with 500'));
});

test('adds jitter to retries, from half of the delay to all of it', async (t) => {
  const { clock, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t, answerWith(503));
  const webhook = await sending.create(receiver.url);
  sending.start(undefined, { random: () => 0 });
  await sending.change(1);
  const failed = await sending.until(webhook, ({ failures }) => failures === 1);
  assert.equal(failed.nextAttemptAt - clock.now, 2_500);
});

test('retries without a trigger after the delay', async (t) => {
  const sending = await prepareSending(t);
  const receiver = await startReceiver(t, answerWith(301));
  const webhook = await sending.create(receiver.url);
  sending.start(undefined, { random: () => -0.98 }); // 1 % of the wait
  await sending.change(1);
  await sending.until(webhook, ({ failures }) => failures === 1);
  sending.clock.now += 60_000;
  receiver.answer = OK;
  await receiver.until(({ length }) => length === 2);
});

test('retries at once on request, and backs off further if that fails, too', async (t) => {
  const { store, actor, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t, answerWith(500));
  const webhook = await sending.create(receiver.url);
  sending.start();
  await sending.change(1);
  const first = await sending.until(webhook, ({ failures }) => failures === 1);
  await store.retryWebhook(actor, webhook.id);
  const second = await sending.until(webhook, ({ failures }) => failures === 2);
  assert.equal(second.failingSince, first.failingSince);
  assert.equal(second.nextAttemptAt - sending.clock.now, 10_000);
  receiver.answer = OK;
  await store.retryWebhook(actor, webhook.id);
  const { failures } = await sending.until(webhook, ({ position }) => position === 1);
  assert.equal(failures, 0);
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 1);
});

test('finds the first endpoint that another store creates', async (t) => {
  const { clock, folder, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t);
  sending.start(await openStore(t, { folder, clock }));
  await sending.change(1); // notifies no one, as there is no endpoint
  await sending.create(receiver.url);
  await sending.change(1);
  await receiver.until((received) => positionsOf(received).length === 1);
});

test('aborts a delivery in flight when it loses the lease', async (t) => {
  const { store, reports, ...sending } = await prepareSending(t);
  const closed = Promise.withResolvers<void>();
  const receiver = await startReceiver(t, (response) => response.on('close', closed.resolve));
  const webhook = await sending.create(receiver.url);
  let lost = new AbortController();
  let wake = (): void => {};
  sending.start({
    ...store,
    async joinDelivery(onDue) {
      wake = onDue;
      const member = await store.joinDelivery(onDue);
      return {
        ...member,
        listDueWebhooks: async (query) => lost.signal.aborted ? []
          : (await member.listDueWebhooks(query)).map((due) => ({ ...due, lease: lost.signal })),
      };
    },
  });
  await sending.change(2);
  await receiver.until(({ length }) => length === 1);
  lost.abort();
  await closed.promise;
  await sending.change(1); // not sent, as no one holds the lease
  assert.equal((await sending.find(webhook)).failures, 0);
  const attempts = { before: undefined, limit: 9 };
  assert.deepEqual(await store.listWebhookAttempts(webhook, attempts), []);
  receiver.answer = OK;
  lost = new AbortController();
  wake();
  await sending.until(webhook, ({ position, message }) => position === 3 && !message);
  const [first, second] = receiver.received;
  assert.equal(first?.id, second?.id, 'repeats the same message');
  assert.deepEqual(reports, []);
});

test('continues when the clock steps back', async (t) => {
  const sending = await prepareSending(t);
  const receiver = await startReceiver(t);
  await sending.create(receiver.url);
  sending.start();
  sending.clock.now -= 3_600_000;
  await sending.change(1);
  await receiver.until(({ length }) => length === 1);
});

test('sends a backlog longer than one run', async (t) => {
  const sending = await prepareSending(t);
  const receiver = await startReceiver(t);
  const webhook = await sending.create(receiver.url);
  await sending.change(2_500); // more than the 20 messages of one run
  sending.start();
  await sending.until(webhook, ({ position }) => position === 2_500);
  assert.deepEqual(positionsOf(receiver.received), countTo(2_500));
});

test('disables an endpoint that responds with 410', async (t) => {
  const sending = await prepareSending(t);
  const receiver = await startReceiver(t, answerWith(410));
  const webhook = await sending.create(receiver.url);
  sending.start();
  await sending.change(1);
  const { disabledReason } = await sending.until(webhook, ({ status }) => status === 'disabled');
  assert.match(disabledReason ?? '', /410/);
});

test('retries later after a response that no retry changes, and when the endpoint asks for it',
  async (t) => {
    const date = (seconds: number): string => new Date(1e12 + seconds * 1000).toUTCString();
    const cases: readonly (readonly [
      status: number, headers: Readonly<Record<string, string>>, seconds: number,
    ])[] = [
      [500, {}, 5], [400, {}, 5], [429, {}, 5],
      [401, {}, 300], [403, {}, 300], [404, {}, 300], [405, {}, 300],
      [503, { 'Retry-After': '120' }, 120], [429, { 'Retry-After': '1' }, 5],
      [503, { 'Retry-After': date(90), date: date(0) }, 90],
      [503, { 'Retry-After': '9999999' }, 24 * 3600], [503, { 'Retry-After': 'soon' }, 5],
      [404, { 'Retry-After': '600' }, 600],
    ];
    const sending = await prepareSending(t);
    const started = await Promise.all(cases.map(async ([status, headers]) => {
      const receiver = await startReceiver(t, answerWith(status, headers));
      return sending.create(receiver.url);
    }));
    sending.start();
    await sending.change(1);
    for (const [index, [status, headers, seconds]] of cases.entries()) {
      const webhook = started[index] ?? assert.fail();
      const { nextAttemptAt } = await sending.until(webhook, ({ failures }) => failures === 1);
      const delay = (nextAttemptAt - sending.clock.now) / 1000;
      assert.equal(delay, seconds, `${status} ${JSON.stringify(headers)}`);
    }
  });

test('disables an endpoint after five days of failures, and resumes when active', async (t) => {
  const { store, actor, clock, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t, answerWith(500));
  const webhook = await sending.create(receiver.url);
  sending.start();
  await sending.change(1);
  await sending.until(webhook, ({ failures }) => failures === 1);
  clock.now += 5 * 24 * 3_600_000 - 1;
  await sending.change(1);
  const last = await sending.until(webhook, ({ failures }) => failures === 2);
  assert.equal(last.status, 'active');
  clock.now += 24 * 3_600_000;
  await sending.change(1);
  const over = await sending.until(webhook, ({ status }) => status === 'disabled');
  assert.match(over.disabledReason ?? '', /5 days .*responded with 500/);
  receiver.answer = OK;
  await store.patchWebhook(actor, webhook.id, { status: 'active' });
  await sending.until(webhook, ({ position }) => position === 3);
  assert.equal(new Set(receiver.received.slice(0, 4).map(({ id }) => id)).size, 1);
});

test('keeps an endpoint active if the clock steps while it fails', async (t) => {
  for (const step of [6, -6]) {
    const { clock, ...sending } = await prepareSending(t);
    const receiver = await startReceiver(t, answerWith(500));
    const webhook = await sending.create(receiver.url);
    sending.start();
    await sending.change(1);
    await sending.until(webhook, ({ failures }) => failures === 1);
    for (const [n, days] of [step, -step].entries()) {
      clock.step(days * 24 * 3_600_000);
      clock.now += 12_000;
      await sending.change(1);
      const { status } = await sending.until(webhook, ({ failures }) => failures === n + 2);
      assert.equal(status, 'active');
    }
  }
});

test('disables an endpoint whose next changes are pruned, and says what to do', async (t) => {
  for (const isBegun of [false, true]) {
    const { folder, clock, ...sending } = await prepareSending(t);
    const receiver = await startReceiver(t, answerWith(500));
    const webhook = await sending.create(receiver.url);
    await sending.change(3);
    const prune = async (): Promise<void> => {
      const db = new DatabaseSync(join(folder, 'catalogue.db'), { timeout: 5_000 });
      db.exec(`BEGIN IMMEDIATE; DELETE FROM change WHERE position <= 2;
        UPDATE seller SET pruned_to = 2; COMMIT`);
      db.close();
      await setImmediate(); // reads of one event-loop iteration share a snapshot
    };
    if (!isBegun) await prune();
    sending.start();
    if (isBegun) {
      const { nextAttemptAt } = await sending.until(webhook, ({ failures }) => failures === 1);
      await prune();
      clock.now = nextAttemptAt;
      await sending.change(1);
    }
    const { disabledReason } = await sending.until(webhook, ({ status }) => status === 'disabled');
    assert.match(disabledReason ?? '', /no longer in the history.*[Rr]eplay.*active/);
  }
});

test('sends a message under a new id after its types changed', async (t) => {
  const { store, actor, ...sending } = await prepareSending(t);
  const timers = holdTimers(t);
  const receiver = await startReceiver(t, () => {});
  const webhook = await sending.create(receiver.url);
  sending.start();
  await sending.change(2);
  await receiver.until(({ length }) => length === 1);
  receiver.answer = OK;
  await store.patchWebhook(actor, webhook.id, { types: ['created'] });
  timers.run();
  await sending.until(webhook, ({ position, message }) => position === 2 && !message);
  const [first, second] = receiver.received;
  assert.notEqual(first?.id, second?.id);
  assert.deepEqual(positionsOf(receiver.received), [1, 2, 1, 2]);
});

test('aborts deliveries in flight when it closes, and repeats them under their ids', async (t) => {
  const { clock, folder, reports, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t, () => {});
  const webhook = await sending.create(receiver.url);
  const webhooks = sending.start();
  await sending.change(2);
  await receiver.until(({ length }) => length === 1);
  await webhooks.close();
  // It does not wait for the receiver, which never answers.
  assert.equal((await sending.find(webhook)).failures, 0);
  receiver.answer = OK;
  sending.start(await openStore(t, { folder, clock }));
  await sending.until(webhook, ({ position }) => position === 2);
  const [first, second] = receiver.received;
  assert.equal(first?.id, second?.id);
  assert.equal(first?.text, second?.text);
  assert.deepEqual(reports, []);
});

test('delivers from one worker at a time, and another takes over when it closes', async (t) => {
  const { clock, folder, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t);
  await sending.create(receiver.url);
  const webhooks = sending.start();
  await sending.change(1);
  await receiver.until(({ length }) => length === 1);
  sending.start(await openStore(t, { folder, clock }));
  for (let n = 2; n <= 20; n += 1) {
    await sending.change(1);
    await receiver.until((received) => positionsOf(received).includes(n));
  }
  assert.deepEqual(positionsOf(receiver.received), countTo(20));
  await webhooks.close();
  await sending.change(1);
  await receiver.until((received) => positionsOf(received).includes(21));
});
