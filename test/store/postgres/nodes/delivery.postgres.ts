/** Delivery of webhooks by several nodes on PostgreSQL: leases, and which webhooks are due. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as runTimers } from 'node:timers/promises';
import type { KeyId, SellerId, WebhookId } from '../../../../src/domain/id.ts';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import {
  prepareRunTransaction,
} from '../../../../src/store/postgres/engine/seller-transactions.ts';
import { openDelivery } from '../../../../src/store/nodes/webhook-leases.ts';
import { announceMutation, webhookLeases } from '../../../../src/store/postgres/nodes/delivery.ts';
import { queryOf } from '../../../../src/store/postgres/sql.ts';
import { Pool } from '../../../../src/store/postgres/wire/pool.ts';
import { webhookMutations } from '../../../../src/store/sql/webhooks/webhook-mutations.ts';
import type { DeliveryMember, DueWebhook } from '../../../../src/store/webhook-store.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { borrowDatabase } from '../../../support/postgres/shared-server.ts';
import { countTo, DAY_MS, eventually } from '../../contract/fixture.ts';
import { makeNewWebhook } from '../../contract/webhooks.ts';

/** All have a catalogue at position 1. */
const SELLERS = countTo(40) as SellerId[]; // the tests insert these
const [FIRST = 0 as SellerId] = SELLERS;
const PATIENT = { renewMs: 20, expiryMs: 20_000 };
const HASTY = { renewMs: 20, expiryMs: 300 };
const ENVIRONMENT = {
  positions: { of: () => 0 }, audit: { add: async () => {}, start: async () => {} },
};
const SECRET = Buffer.alloc(40).toString('base64');

function listDue(member: DeliveryMember): Promise<readonly DueWebhook[]> {
  return member.listDueWebhooks({ at: Date.now(), isFailing: false, limit: 1_000 });
}

/** Returns the webhooks of just these sellers, once they are due. */
async function assertDue(
  member: DeliveryMember, sellers: readonly SellerId[],
): Promise<readonly DueWebhook[]> {
  let due: readonly DueWebhook[] = [];
  await eventually(async () => {
    due = await listDue(member);
    assert.deepEqual(due.map(({ webhook }) => webhook.sellerId), sellers);
  });
  return due;
}

describe('delivery of webhooks on PostgreSQL', { skip: NO_POSTGRES }, () => {
  async function prepare(t: TestContext, intervals = PATIENT) {
    const options = await borrowDatabase(t);
    const open = () => {
      const pool = new Pool({ open: () => openConnection(options), max: 2 });
      t.after(() => pool.close());
      return pool;
    };
    const query = queryOf(open());
    await query(`INSERT INTO seller (id, name, currency, currency_decimals, created_at, position)
      SELECT id, 'A shop', 'EUR', 2, 1, 1 FROM unnest($1::bigint[]) AS n (id)`, SELLERS);
    return { query, open: async () => openNode(t, open(), intervals) };
  }

  /** A node, whose statements are no longer answered once it has vanished. */
  function openNode(t: TestContext, pool: Pool, intervals: typeof PATIENT) {
    let hasVanished = false;
    const delivery = openDelivery(webhookLeases({
      run: (...args) => (hasVanished ? new Promise(() => {}) : pool.run(...args)),
    }), intervals, 10);
    t.after(() => (hasVanished ? undefined : delivery.close()));
    const runTransaction = prepareRunTransaction(pool, () => ({ wall: 1_000, lived: 0 }));
    const mutate = async (
      name: 'createWebhook' | 'patchWebhook' | 'deleteWebhook', sellerId: SellerId, input: object,
    ): Promise<void> => {
      const actor = { sellerId, keyId: 1 as KeyId }; // no key has this id
      await runTransaction<unknown>({
        name, input, sellerId, first: announceMutation(name, sellerId),
        run: (sql, { wall: at }) =>
          webhookMutations(sql, ENVIRONMENT)[name]({ actor, ...input } as never, at),
      });
      delivery.noteMutation(name, sellerId);
    };
    return {
      delivery, mutate,
      vanish: () => { hasVanished = true; },
      /** A webhook at position 0, which is due. */
      create: (sellerId: SellerId, id = 1) => mutate('createWebhook', sellerId, {
        webhook: makeNewWebhook(), generated: { id, secret: SECRET },
      }),
    };
  }

  test('shares the sellers evenly, and releases none without need', async (t) => {
    const { open, query } = await prepare(t);
    const nodes = [await open(), await open(), await open()] as const;
    await Promise.all(SELLERS.map((id, n) => nodes[n % 3]?.create(id)));
    const members = [await nodes[0].delivery.join(() => {})];
    const holders = async (count: number) => {
      let rows: Awaited<ReturnType<typeof query>> = [];
      await eventually(async () => {
        rows = await query(`SELECT bucket, holder FROM webhook_lease
          WHERE expires_at > 0 ORDER BY bucket`);
        const sizes = [...Map.groupBy(rows, ({ holder }) => holder).values()]
          .map(({ length }) => length).sort();
        const least = Math.floor(64 / count);
        assert.deepEqual(sizes, countTo(count).map((n) =>
          least + (n > count - 64 % count ? 1 : 0)));
      });
      return rows;
    };
    const alone = await holders(1);
    members.push(await nodes[1].delivery.join(() => {}));
    const two = await holders(2);
    assert.equal(two.filter(({ holder }, n) => holder === alone[n]?.['holder']).length, 32);
    members.push(await nodes[2].delivery.join(() => {}));
    await holders(3);
    await eventually(async () => {
      const due = (await Promise.all(members.map(listDue))).flat();
      assert.deepEqual(due.map(({ webhook }) => webhook.sellerId).sort((a, b) => a - b), SELLERS);
      assert.ok(due.every(({ lease }) => !lease.aborted));
    });
    await members[1]?.leave();
    await holders(2);
    assert.deepEqual(await members[1]?.findNextRetry(0), undefined);
  });

  test('never lets two nodes deliver for a seller while nodes join and leave', async (t) => {
    const { open } = await prepare(t);
    const nodes = await Promise.all(countTo(3).map(open));
    for (const id of SELLERS) await nodes[0]?.create(id);
    const members = new Set<DeliveryMember>();
    for (const round of countTo(12)) {
      const member = await nodes[round % 3]?.delivery.join(() => {});
      if (member) members.add(member);
      const [oldest] = members;
      if (members.size > 3) members.delete(oldest ?? assert.fail());
      const left = members.size > 2 ? oldest?.leave() : undefined;
      const due = (await Promise.all([...members].map(listDue))).flat()
        .filter(({ lease }) => !lease.aborted).map(({ webhook }) => webhook.sellerId);
      assert.equal(new Set(due).size, due.length);
      await left;
    }
    for (const member of members) await member.leave();
    const last = await nodes[0]?.delivery.join(() => {}) ?? assert.fail();
    await assertDue(last, SELLERS);
  });

  test('takes over from a vanished node, once it no longer delivers', async (t) => {
    const { open } = await prepare(t, HASTY);
    const [one, two] = [await open(), await open()];
    const member = await one.delivery.join(() => {});
    await one.create(FIRST);
    const [due] = await assertDue(member, [FIRST]);
    const other = await two.delivery.join(() => {});
    one.vanish();
    await assertDue(other, [FIRST]);
    await runTimers(); // of both nodes, which are in one process here
    assert.equal(due?.lease.aborted, true);
    assert.deepEqual(await listDue(member), []);
  });

  test('takes no lease that is renewed if the clock of the database steps', async (t) => {
    const { open, query } = await prepare(t, HASTY);
    const [one, two] = [await open(), await open()];
    const member = await one.delivery.join(() => {});
    for (const id of SELLERS) await one.create(id);
    await assertDue(member, SELLERS);
    const held = async () => Map.groupBy(
      await query('SELECT holder, bucket FROM webhook_lease WHERE expires_at > 0 ORDER BY bucket'),
      ({ holder }) => String(holder));
    const [[holder = ''] = []] = await held();
    for (const step of [-DAY_MS, DAY_MS]) {
      // As if the clock had stepped the other way.
      await query('UPDATE webhook_lease SET expires_at = expires_at + $1', step);
      const other = await two.delivery.join(() => {});
      await eventually(async () => assert.equal((await held()).size, 2));
      // The holder has given up half of its leases by itself, and the other one has only those.
      await eventually(async () => assert.equal((await held()).get(holder)?.length, 32));
      const due = (await Promise.all([member, other].map(listDue))).flat()
        .filter(({ lease }) => !lease.aborted).map(({ webhook }) => webhook.sellerId);
      assert.equal(new Set(due).size, due.length);
      await other.leave();
      await assertDue(member, SELLERS);
    }
  });

  test('takes over from a vanished node if the clock of the database was set back', async (t) => {
    const { open, query } = await prepare(t, HASTY);
    const [one, two] = [await open(), await open()];
    const member = await one.delivery.join(() => {});
    for (const id of SELLERS) await one.create(id);
    await assertDue(member, SELLERS);
    one.vanish();
    for (const table of ['node', 'webhook_lease']) {
      await query(`UPDATE ${table} SET expires_at = expires_at + $1`, DAY_MS);
    }
    const other = await two.delivery.join(() => {});
    await assertDue(other, SELLERS);
  });

  test('ends the leases of a process that was suspended before it continues', async (t) => {
    const { open } = await prepare(t, HASTY);
    const node = await open();
    const member = await node.delivery.join(() => {});
    await node.create(FIRST);
    const [due] = await assertDue(member, [FIRST]);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HASTY.expiryMs);
    const late = listDue(member);
    assert.equal(due?.lease.aborted, true);
    assert.deepEqual(await late, []);
    await assertDue(member, [FIRST]);
  });

  test('is notified of commits, webhooks and disabled sellers of another node', async (t) => {
    const { open, query } = await prepare(t);
    const [one, two] = [await open(), await open()];
    let notified = 0;
    const member = await one.delivery.join(() => { notified += 1; });
    const assertNotified = async (write: Promise<unknown>): Promise<void> => {
      const count = notified;
      await write;
      await eventually(() => assert.ok(notified > count));
    };
    const id = 1 as WebhookId;
    await assertNotified(two.create(FIRST)); // its first one
    await assertDue(member, [FIRST]);
    await two.mutate('patchWebhook', FIRST, { id, patch: { status: 'disabled' } });
    await assertDue(member, []);
    await assertNotified(two.mutate('patchWebhook', FIRST, { id, patch: { status: 'active' } }));
    await assertDue(member, [FIRST]);
    await query('UPDATE webhook SET position = 1');
    await query('UPDATE seller SET webhook_version = webhook_version + 1 WHERE id = $1', FIRST);
    await assertDue(member, []);
    await assertNotified(query('UPDATE seller SET position = 2 WHERE id = $1', FIRST));
    await assertDue(member, [FIRST]);
    await assertNotified(query('UPDATE seller SET disabled_at = 1 WHERE id = $1', FIRST));
    await assertDue(member, []);
    await assertNotified(query('UPDATE seller SET disabled_at = NULL WHERE id = $1', FIRST));
    await assertDue(member, [FIRST]);
    await two.mutate('deleteWebhook', FIRST, { id });
    await assertDue(member, []);
  });

  test('immediately lists what this node has changed', async (t) => {
    const { open } = await prepare(t);
    const node = await open();
    const member = await node.delivery.join(() => {});
    await node.create(FIRST);
    await assertDue(member, [FIRST]);
    for (const n of countTo(20)) {
      const status = n % 2 > 0 ? 'disabled' : 'active';
      await node.mutate('patchWebhook', FIRST, { id: 1, patch: { status } });
      assert.equal((await listDue(member)).length, n % 2 > 0 ? 0 : 1);
    }
  });

  test('has no leases and reads no sellers while there are no webhooks', async (t) => {
    const { open, query } = await prepare(t);
    const [node, other] = [await open(), await open()];
    const member = await node.delivery.join(() => assert.fail('nothing is due'));
    await other.delivery.join(() => {});
    await eventually(async () => {
      assert.deepEqual(await query('SELECT count(*) AS nodes FROM node'), [{ nodes: 2 }]);
    });
    assert.deepEqual(await listDue(member), []);
    assert.deepEqual(await query('SELECT bucket FROM webhook_lease WHERE expires_at > 0'), []);
  });
});
