/**
 * Random imports, stock syncs, edits, deletions and reverts on a store and on a model in memory:
 * they agree on every outcome, and on all reads of the catalogue, of its history and of its past.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import type { RevertedChanges } from '../../src/domain/catalogue/import.ts';
import type { NewProduct, Sku } from '../../src/domain/catalogue/product-fields.ts';
import type { ImportId, KeyId } from '../../src/domain/id.ts';
import type { RevertSelection } from '../../src/store/revert-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { Actor, ImportPart } from '../../src/store/write.ts';
import { makeRandom, type Random } from '../domain/random.ts';
import { type Clock, makeClock } from '../support/clock.ts';
import { DAY_MS, makeActor } from './contract/fixture.ts';
import { revert } from './contract/revert-fixture.ts';
import type { Engine, EngineData } from './engine.ts';
import { RevertModel } from './revert-model.ts';
import { CatalogueModel } from './stock-model.ts';
import { assertReads, readFeed } from './stock-reads.ts';

const RUNS = Number(process.env['REVERT_RUNS'] ?? 6);
const STEPS = Number(process.env['REVERT_STEPS'] ?? 120);
/** Steps between two full comparisons, each with a run of doctor. */
const COMPARE_EVERY = 15;
const SKUS = Array.from({ length: 7 }, (_, index) => `S-${index}` as Sku); // legal ones
const SOURCES = ['erp', 'till'];
const EUR = { code: 'EUR', decimals: 2 };

export function testRandomReverts({ runsShare, prepare }: Engine): void {
  const runs = Math.ceil(RUNS * runsShare);
  for (let run = 1; run <= runs; run += 1) {
    test(`agrees with a model on random reverts (run ${run})`, async (t) => {
      const seed = Number(process.env['REVERT_SEED'] ?? randomInt(2 ** 32));
      t.diagnostic(`REVERT_SEED=${seed} repeats this run`);
      const world = await prepareWorld(await prepare(t), makeRandom(seed));
      for (let step = 1; step <= STEPS; step += 1) {
        try {
          await takeStep(world);
          if (step % COMPARE_EVERY === 0) world.assertHealthy();
          await compare(world, step % COMPARE_EVERY === 0);
        } catch (cause) {
          throw new Error(`Failed with REVERT_SEED=${seed} at step ${step}: ${cause}`, { cause });
        }
      }
      t.diagnostic(JSON.stringify(Object.fromEntries([...world.seen].sort())));
    });
  }
}

interface World extends EngineData {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly actors: readonly Actor[];
  readonly model: CatalogueModel;
  readonly reverts: RevertModel;
  /** The positions of each import's changes. */
  readonly imports: Map<ImportId, { readonly first: number; readonly last: number }>;
  /** How many products had each outcome. */
  readonly seen: Map<string, number>;
  keys: number;
}

/** Compares the feed, or all reads, with the model. */
async function compare({ store, model, random }: World, isWhole: boolean): Promise<void> {
  const feed = await readFeed(store, model, model.prunedTo, 1_000);
  assert.deepEqual(feed, model.history.slice(model.prunedTo));
  if (isWhole) await assertReads(store, model, random);
}

async function prepareWorld(data: EngineData, random: Random): Promise<World> {
  const clock = makeClock();
  const store = await data.open(clock);
  const actor = await makeActor(store);
  const model = new CatalogueModel(actor.sellerId, EUR);
  const actors = [actor, { ...actor, keyId: 1 as KeyId }]; // the portal's
  return {
    ...data, store, clock, random, actors, model, reverts: new RevertModel(), imports: new Map(),
    seen: new Map(), keys: 0,
  };
}

async function takeStep(world: World): Promise<void> {
  const { below, pick } = world.random;
  world.clock.now += pick([0, 1, 1_000, 60_000, DAY_MS / 8]);
  const choice = below(20);
  if (choice < 4) await importProducts(world);
  else if (choice < 9) await syncStock(world);
  else if (choice < 11) await patch(world);
  else if (choice < 13) await remove(world);
  else if (choice < 19) await revertSome(world);
  else if (below(3) === 0) await prune(world);
}

function makeProduct({ below, pick }: Random, sku = pick(SKUS)): NewProduct {
  return {
    sku, name: `Product ${below(3)}`, category: pick(['Kitchen', 'Garden']), stock: below(20),
    priceMinor: 100 * below(3),
  };
}

async function importProducts({ store, random, actors, model, clock, imports }: World) {
  const { below, pick } = random;
  const actor = pick(actors);
  const rows = Array.from({ length: 1 + below(6) }, () => makeProduct(random));
  const mode = pick(['upsert', 'upsert', 'update', 'create'] as const);
  const first = model.position + 1;
  const part: ImportPart = {
    id: undefined, record: { kind: 'products' }, counts: {}, isLast: below(4) > 0,
  };
  const { importId, effects } = await store.importProducts({ ...actor, import: part }, rows, mode);
  assert.deepEqual(effects, model.import({ ...actor, importId }, rows, mode, clock.now).effects);
  if (importId !== undefined) imports.set(importId, { first, last: model.position });
}

async function syncStock({ store, random, actors, model, clock, imports }: World): Promise<void> {
  const { below, pick } = random;
  const actor = pick(actors);
  const changes = Array.from({ length: 1 + below(4) }, () => ({
    sku: pick(SKUS), ...(below(2) === 0 ? { set: below(20) } : { adjust: below(7) - 3 }),
  }));
  const completion = below(6) === 0 ? { zeroLimitPercent: 100 } : undefined;
  const source = pick([undefined, ...SOURCES]);
  const sync = { changes, source, reason: undefined, isAtomic: false, completion };
  const first = model.position + 1;
  const isRecorded = below(3) === 0;
  const part: ImportPart = { id: undefined, record: { kind: 'stock' }, counts: {}, isLast: true };
  const { importId } = await store.syncStock(
    { ...actor, import: isRecorded ? part : undefined }, sync, false,
  );
  model.sync({ ...actor, importId }, sync, false, clock.now);
  if (importId !== undefined) imports.set(importId, { first, last: model.position });
}

async function patch({ store, random, actors, model, clock }: World): Promise<void> {
  const { below, pick } = random;
  const product = pick([undefined, ...model.products.values()]);
  if (!product) return;
  const { name, priceMinor, stock } = makeProduct(random);
  const free = SKUS.filter((sku) => !model.find({ sku }));
  const sku = free.length > 0 ? pick(free) : product.sku;
  const members = pick([{ name }, { priceMinor }, { stock }, { name, stock }, { sku }]);
  const actor = pick(actors);
  const target = below(2) === 0 ? { id: product.id } : { sku: product.sku };
  const { effect } = await store.patchProduct(actor, target, members, {});
  assert.equal(effect, model.patch(actor, target, members, undefined, clock.now).effect);
}

async function remove({ store, random, actors, model, clock }: World): Promise<void> {
  const product = random.pick([undefined, ...model.products.values()]);
  if (!product) return;
  const actor = random.pick(actors);
  await store.deleteProduct(actor, { id: product.id }, {});
  model.delete(actor, { id: product.id }, undefined, clock.now);
}

async function revertSome(world: World): Promise<void> {
  const { store, random, actors, model, reverts, clock, imports } = world;
  const { below, pick } = random;
  const chosen = chooseChanges(world);
  if (!chosen) return;
  const { selection, changes } = chosen;
  const isForced = below(2) === 0;
  const actor = pick(actors);
  const run = (isDryRun: boolean, key?: string) => revert(
    store, { ...actor, idempotency: key === undefined ? undefined : { key, part: 0 } },
    selection, { isForced, isDryRun },
  );
  if (changes.after < model.prunedTo) {
    await assert.rejects(run(false), ({ code }) =>
      code === 'history_pruned' || (code === 'not_found' && 'importId' in selection));
    return;
  }
  const dryRun = await run(true);
  world.keys += 1;
  const key = below(2) === 0 ? `revert-${world.keys}` : undefined;
  const first = model.position + 1;
  const done = await run(false, key);
  const { importId } = done;
  assert.ok(importId);
  const expected = reverts.revert(model, { ...actor, importId }, { changes, isForced }, clock.now);
  assert.deepEqual(done.statuses, expected);
  assert.deepEqual(dryRun.statuses, expected, 'the dry run');
  if (model.position >= first) imports.set(importId, { first, last: model.position });
  for (const status of expected) {
    const name = status.slice(status.indexOf(' ') + 1);
    world.seen.set(name, (world.seen.get(name) ?? 0) + 1);
  }
  await assertUndone(world, changes, expected);
  if (key === undefined) return;
  const again = await run(false, key);
  assert.ok(again.isReplay);
  // Products that had to wait for a SKU come in another order.
  assert.deepEqual(again.statuses.toSorted(), expected.toSorted());
  assert.equal(again.position, done.position);
}

/** Nothing is left to revert of an import within a range whose products were all reverted. */
async function assertUndone(
  world: World, changes: RevertedChanges, statuses: readonly string[],
): Promise<void> {
  const { store, actors: [actor], imports, model } = world;
  const { after, upTo, importId, keyId, source } = changes;
  if (importId !== undefined || keyId !== undefined || source !== undefined) return;
  if (!actor || statuses.some((status) => /\)| unchanged/.test(status))) return;
  const within = [...imports].filter(([, { first, last }]) =>
    first > after && first <= last && last <= upTo && first > model.prunedTo);
  for (const [id] of within) {
    const options = { isForced: true, isDryRun: true };
    const again = await revert(store, actor, { importId: id }, options);
    assert.deepEqual(again.statuses.filter((status) => !status.endsWith(' unchanged')), []);
  }
}

/** An import, an earlier revert, or a range. */
function chooseChanges(
  { random, actors, model, imports }: World,
): { selection: RevertSelection; changes: RevertedChanges } | undefined {
  const { below, pick } = random;
  if (below(3) > 0) {
    const recent = [...imports].slice(-6);
    const [importId, span] = pick([undefined, ...recent]) ?? [];
    if (importId === undefined || !span || span.last < span.first) return undefined;
    const changes = { importId, after: span.first - 1, upTo: span.last };
    return { selection: { importId }, changes };
  }
  const upTo = Math.max(0, model.position - below(6));
  const selection = {
    after: Math.max(0, upTo - below(12)), upTo,
    keyId: pick([undefined, undefined, ...actors.map(({ keyId }) => keyId)]),
    source: pick([undefined, undefined, ...SOURCES]),
  };
  return { selection, changes: selection };
}

async function prune({ store, random, model }: World): Promise<void> {
  const last = model.history.at(-1)?.at ?? 0;
  const first = model.history[0]?.at ?? 0;
  const before = first + random.below(Math.max(1, last - first));
  await store.pruneHistory(before);
  model.prunedTo = Math.max(model.prunedTo, model.positionAt(before - 1));
  model.daysFrom = Math.max(model.daysFrom, Math.floor(before / DAY_MS));
}
