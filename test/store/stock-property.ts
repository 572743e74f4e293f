/**
 * Random calls on two stores on the same data, as in two processes, and on a model in memory: they
 * agree on every result, and on all reads of the catalogues afterwards.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../src/store/store.ts';
import type { Actor } from '../../src/store/write.ts';
import { makeRandom, type Random } from '../domain/random.ts';
import { type Clock, makeClock } from '../support/clock.ts';
import { DAY_MS, makeActor, makeNewKey, makeSecret } from './contract/fixture.ts';
import type { Engine, EngineData } from './engine.ts';
import { CatalogueModel, Rejection } from './stock-model.ts';
import { type Operation, OperationMaker } from './stock-operations.ts';
import { assertReads, readFeed } from './stock-reads.ts';

const RUNS = Number(process.env['STOCK_RUNS'] ?? 6);
const STEPS = Number(process.env['STOCK_STEPS'] ?? 70);
const CONCURRENT_CALLS = 4;
/** Steps between two runs of doctor. */
const CHECK_EVERY = 10;
/** Most runs continue past midnight. */
const EVENING = Date.parse('2026-01-02T23:50:00.000Z');
const EUR = { code: 'EUR', decimals: 2 };

export function testRandomCalls({ runsShare, prepare }: Engine): void {
  const runs = Math.ceil(RUNS * runsShare);
  for (let run = 1; run <= runs; run += 1) {
    test(`agrees with a model on random calls (run ${run})`, async (t) => {
      const seed = Number(process.env['STOCK_SEED'] ?? randomInt(2 ** 32));
      t.diagnostic(`STOCK_SEED=${seed} repeats this run`);
      const world = await prepareWorld(await prepare(t), makeRandom(seed));
      for (let step = 1; step <= STEPS; step += 1) {
        try {
          await takeStep(world);
          if (step % CHECK_EVERY === 0) world.assertHealthy();
        } catch (cause) {
          throw new Error(`Failed with STOCK_SEED=${seed} at step ${step}: ${cause}`, { cause });
        }
      }
      const positions = world.shops.map(({ model }) => model.position);
      t.diagnostic(`${world.calls} calls, ${positions} changes`);
    });
  }
}

/** A seller. */
interface Shop {
  model: CatalogueModel;
  readonly maker: OperationMaker;
  readonly actor: Actor;
}

interface World extends EngineData {
  readonly clock: Clock;
  readonly random: Random;
  readonly stores: [Store, Store];
  readonly shops: readonly Shop[];
  calls: number;
}

/** A call to one of the two stores, and its outcome. */
interface Sent {
  readonly operation: Operation;
  readonly outcome: unknown;
}

async function prepareWorld(data: EngineData, random: Random): Promise<World> {
  const clock = makeClock(EVENING);
  const stores: World['stores'] = [await data.open(clock), await data.open(clock)];
  const actors = [await makeActor(stores[0]), await makeActor(stores[0])] as const;
  const shops = await Promise.all(actors.map(async (actor, index) => {
    const { sellerId } = actor;
    const second = await stores[0].createKey(sellerId, makeSecret(), makeNewKey());
    const keys = [actor, { sellerId, keyId: second.id }];
    const foreign = actors[1 - index]?.sellerId ?? sellerId;
    const model = new CatalogueModel(sellerId, EUR);
    return { model, maker: new OperationMaker(random, keys, foreign), actor };
  }));
  return { ...data, clock, random, stores, shops, calls: 0 };
}

async function takeStep(world: World): Promise<void> {
  const { random: { below, pick }, clock, shops, stores, random } = world;
  clock.now += pick([0, 1, 5, 1_000, 30_000, 60_000, 200_000, -90_000, -5]);
  const shop = pick(shops);
  // Some processes end with calls in flight, and restart.
  await callBoth(world, shop, below(16) === 0 ? pick([[0], [1], [0, 1]]) : []);
  const what = below(24);
  if (what < 2) await prune(world);
  else if (what < 5) await dryRunParts(world, shop);
  else if (what < 10) await assertReads(pick(stores), shop.model, random);
}

/** Concurrent calls on both stores and of the same seller, while some stores are closed. */
async function callBoth(world: World, shop: Shop, ending: readonly number[]): Promise<void> {
  const { random: { below }, stores, clock } = world;
  const queues: Operation[][] = stores.map(() => []);
  const count = 1 + below(CONCURRENT_CALLS);
  for (let call = 0; call < count; call += 1) {
    const queue = queues[below(stores.length)];
    if (world.hasExactIds || queue?.length === 0) queue?.push(shop.maker.make(shop.model));
  }
  world.calls += count;
  const sending = Promise.all(queues.map((queue, index) => Promise.all(
    queue.map((operation) => send(operation, stores[index] ?? stores[0])))));
  await Promise.all(ending.map((index) => stores[index]?.close()));
  for (const index of ending) stores[index] = await world.open(clock);
  const sent = await sending;
  await nextTurn(); // a new event-loop iteration sees what the other store has written
  const before = shop.model.position;
  const feed = await readFeed(stores[0], shop.model, before, 1_000);
  const ends = findOrders(shop.model, sent, clock.now);
  const end = ends.find((model) => isEqual(model.history.slice(before), feed));
  if (!end) {
    const first = runInTurn(shop.model, sent.flat(), clock.now);
    assert.deepEqual([sent.flat(), feed], first, 'the calls agree with the model in no order');
    assert.fail('the calls agree with the model, and the feed does not');
  }
  shop.model = end;
}

async function send(operation: Operation, store: Store): Promise<Sent> {
  const outcome = await operation.send(store).catch((error) => ({ code: error.code ?? error }));
  return { operation, outcome };
}

/** Every state that the calls may have led to: each store executes its calls in order. */
function findOrders(
  model: CatalogueModel, queues: readonly (readonly Sent[])[], now: number,
): CatalogueModel[] {
  if (queues.every((queue) => queue.length === 0)) return [model];
  return queues.flatMap(([first, ...rest], index) => {
    if (!first) return [];
    const next = model.clone();
    if (!isEqual(predict(next, first.operation, now), first.outcome)) return [];
    return findOrders(next, queues.with(index, rest), now);
  });
}

/** The outcome of a call on the model. */
function predict(model: CatalogueModel, operation: Operation, now: number): object {
  try {
    return operation.apply(model, now);
  } catch (error) {
    if (error instanceof Rejection) return { code: error.code };
    throw error;
  }
}

/** For the report of a failure. */
function runInTurn(model: CatalogueModel, sent: readonly Sent[], now: number) {
  const next = model.clone();
  const expected = sent.map(({ operation }) =>
    ({ operation, outcome: JSON.parse(JSON.stringify(predict(next, operation, now))) }));
  return [expected, next.history.slice(model.position)];
}

/** Members that are undefined count as absent. */
function isEqual(one: unknown, other: unknown): boolean {
  const sort = (_: string, value: unknown) => (isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value);
  return JSON.stringify(one, sort) === JSON.stringify(other, sort);
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function prune({ random, stores, shops }: World): Promise<void> {
  const { history } = random.pick(shops).model;
  const last = history.at(-1)?.at ?? 0;
  const first = history[0]?.at ?? 0;
  const before = first + random.below(Math.max(1, last - first));
  await random.pick(stores).pruneHistory(before);
  for (const { model } of shops) {
    model.prunedTo = Math.max(model.prunedTo, model.positionAt(before - 1));
    model.daysFrom = Math.max(model.daysFrom, Math.floor(before / DAY_MS));
  }
}

/** A dry run of several parts predicts the effects of its changes in order, and makes none. */
async function dryRunParts({ random, stores, clock }: World, shop: Shop): Promise<void> {
  const source = shop.maker.pickSource();
  const { actor } = shop;
  const dryRun = random.pick(stores).dryRunStock(actor, shop.model.position, source);
  const model = shop.model.clone();
  for (let part = 0; part < 3; part += 1) {
    const changes = shop.maker.makeChanges(model, source !== undefined);
    const sync = { changes, source, reason: undefined, isAtomic: false, completion: undefined };
    const { results, position } = model.sync(actor, sync, false, clock.now);
    const predicted = await dryRun.try(changes);
    const expected = JSON.parse(JSON.stringify({ results, position }));
    assert.deepEqual(JSON.parse(JSON.stringify(predicted)), expected, `a dry run of ${source}`);
  }
  await dryRun.close();
}
