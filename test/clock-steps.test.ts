/**
 * Clocks that step: an hour back at the end of summer by a wrong setting, years ahead by an empty
 * battery, and back again when the clock is corrected. Nothing is lost or done twice, no user is
 * locked out, and nothing that has ended works again.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRetentionJob } from '../src/cli/serve/retention.ts';
import { CLOCK_STEP_LIMIT_MS, SESSION_IDLE_MS, SESSION_LIFE_MS } from '../src/store/limits.ts';
import { bucketOf } from '../src/store/nodes/throttle-store.ts';
import { findTotpStep, type TotpSecret } from '../src/domain/access/totp.ts';
import type { Portal } from '../src/features/portal/route.ts';
import {
  findSession, formatSessionToken, isAlive, startSession,
} from '../src/features/portal/sign-in/session.ts';
import { loadSources, ROOT } from './audit/places.ts';
import { CLOCK_CONSUMERS, WALL_CLOCK } from './clock-consumers.ts';
import { makeAccount } from './features/portal/page-client.ts';
import { livedUntil, makeClock } from './support/clock.ts';
import { makeDataFolder } from './support/folder.ts';
import { assertHealthy } from './support/health.ts';
import { startServer } from './support/server.ts';
import { countTo, DAY_MS, makeActor, makeNewProduct } from './store/contract/fixture.ts';
import { join as register, makeJoining } from './store/contract/portal-fixture.ts';
import { readRows } from './store/sqlite/engine/read-file.ts';
import { openStore } from './store/sqlite/open.ts';
import { ownerOf } from './support/owner.ts';

const YEARS_MS = 54 * 365 * DAY_MS;
const PRODUCTS = '/api/v1/products';

test('removes no more history than the newest change allows by a clock that is years ahead',
  async (t) => {
    const clock = makeClock();
    const store = await openStore(t, { folder: makeDataFolder(t), clock });
    const actor = await makeActor(store);
    for (const _ of countTo(40)) { // a change every ten days
      clock.now += 10 * DAY_MS;
      await store.createProduct(actor, makeNewProduct());
    }
    const newest = clock.now;
    assert.equal(await store.findNewestTime(), newest);
    const cutAt = async (days: number, now: number): Promise<[days: number, notes: string[]]> => {
      const notes: string[] = [];
      const pruned = Promise.withResolvers<number>();
      const watched = {
        findNewestTime: () => store.findNewestTime(),
        findTimeLivedAgo: async () => Infinity,
        pruneIdempotency: () => store.pruneIdempotency(),
        async pruneHistory(before: number) {
          await store.pruneHistory(before);
          pruned.resolve(before);
        },
      };
      const end = startRetentionJob(watched, days, (text) => notes.push(text), () => now);
      const before = await pruned.promise;
      end();
      return [Math.round((newest - before) / DAY_MS), notes];
    };
    assert.deepEqual(await cutAt(400, newest + 30 * DAY_MS), [370, []]);
    const [kept, [note = '', ...more]] = await cutAt(400, newest + YEARS_MS);
    assert.equal(kept, 369); // days before the newest change, and not all of them
    assert.match(note, /^The clock says 20[89]\d-.*If the clock is right, restart the server/);
    assert.deepEqual(more, []);
    const { changes } = await store.listChanges(actor.sellerId, {
      after: 4, limit: 100, types: undefined,
    });
    assert.equal(changes.length, 36);
  });

test('keeps the time of a catalogue at a small step back, and follows a large one',
  async (t) => {
    const clock = makeClock();
    const folder = makeDataFolder(t);
    const store = await openStore(t, { folder, clock });
    const actor = await makeActor(store);
    const begun = clock.now;
    const steps = [0, 5_000, -CLOCK_STEP_LIMIT_MS, 60_000, -30_000, YEARS_MS, -YEARS_MS, 1_000, -1];
    const times: number[] = [];
    for (const step of steps) {
      clock.now += step;
      const { position } = await store.createProduct(actor, makeNewProduct());
      const { changes: [made] } = await store.listChanges(actor.sellerId, {
        after: position - 1, limit: 1, types: undefined,
      });
      assert.equal(made?.position, position);
      times.push((made?.at ?? NaN) - begun);
      // The position of a time is that of the last change until then, also after steps.
      assert.equal(await store.findPositionAt(actor.sellerId, made?.at ?? NaN), position);
    }
    const back = times[6] ?? NaN;
    assert.deepEqual(times.slice(0, 5), [0, 5_000, 5_000, 5_000, 5_000]);
    assert.ok((times[5] ?? NaN) > YEARS_MS / 2 && back < DAY_MS, times.join());
    assert.deepEqual(times.slice(7).map((time) => time >= back), [true, true]);
    await store.close();
    assertHealthy(folder);
  });

test('replays a change to a retry after the clock was set back or ahead',
  async (t) => {
    const clock = makeClock();
    const server = await startServer(t, { clock });
    const seller = await server.makeSeller();
    const create = (sku: string) => seller.send({
      method: 'POST', path: PRODUCTS, body: JSON.stringify({
        name: 'A', category: 'B', sku, price: 1, stock: 1,
      }),
      headers: { 'content-type': 'application/json', 'idempotency-key': sku },
    });
    const first = await create('A');
    for (const step of [-CLOCK_STEP_LIMIT_MS, -DAY_MS, DAY_MS, 3 * DAY_MS, YEARS_MS, -YEARS_MS]) {
      clock.step(step);
      const again = await create('A');
      assert.equal(again.headers['idempotent-replay'], 'true');
      assert.equal(again.text, first.text);
    }
  });

test('does not block a key for long after the clock was ahead',
  async (t) => {
    const clock = makeClock();
    const server = await startServer(t, { clock, rateLimitPerMinute: 3 });
    const seller = await server.makeSeller();
    const list = async () => (await seller.send({ path: PRODUCTS })).status;
    clock.step(YEARS_MS);
    for (const status of [200, 200, 200, 429]) assert.equal(await list(), status);
    clock.step(-YEARS_MS);
    assert.equal(await list(), 429); // a step back refills nothing
    clock.now += 60_000;
    assert.deepEqual([await list(), await list(), await list()], [200, 200, 200]);
  });

test('neither fills nor empties the buckets of rate limits when the clock steps', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { clock, rateLimitPerMinute: 3 });
  const seller = await server.makeSeller();
  const list = async () => (await seller.send({ path: PRODUCTS })).status;
  for (const status of [200, 200, 200, 429]) assert.equal(await list(), status);
  for (const step of [DAY_MS, -2 * DAY_MS, DAY_MS]) {
    clock.step(step);
    assert.equal(await list(), 429);
  }
  // Passwords and codes have throttles in the store.
  const bucket = bucketOf({ kind: 'test', limit: 1, windowMs: DAY_MS }, 'a name');
  const take = async () => (await server.store.takeThrottle(bucket)).isAllowed;
  assert.equal(await take(), true);
  for (const step of [YEARS_MS, -2 * YEARS_MS]) {
    clock.step(step);
    assert.equal(await take(), false);
  }
  clock.now += DAY_MS;
  assert.deepEqual([await list(), await take()], [200, true]);
});

test('ends keys by lived time if the clock is set back, or by the clock', async (t) => {
  for (const [step, passed] of [[-3 * DAY_MS, livedUntil(0, DAY_MS)], [DAY_MS, 0]] as const) {
    const clock = makeClock();
    const server = await startServer(t, { clock });
    const seller = await server.makeSeller({ expiresAt: clock.now + DAY_MS });
    const list = async () => (await seller.send({ path: PRODUCTS })).status;
    assert.equal(await list(), 200);
    clock.step(step);
    assert.equal(await list(), passed === 0 ? 401 : 200);
    clock.now += passed;
    assert.equal(await list(), 401);
    // A clock that was ahead ends nothing for ever.
    clock.step(-step);
    assert.equal(await list(), passed === 0 ? 200 : 401);
  }
});

test('ends sessions by lived time if the clock is set back', async (t) => {
  const clock = makeClock();
  const store = await openStore(t, { folder: makeDataFolder(t), clock });
  const { session, secret } = startSession('192.0.2.7');
  const { sellerId } = await register(store, makeJoining({ session }));
  const { token } = formatSessionToken(sellerId, secret);
  // The casts: only these members are used.
  const portal = { store, clock } as unknown as Portal;
  const isSignedIn = async () => await findSession(portal, token) !== undefined;
  clock.step(-CLOCK_STEP_LIMIT_MS);
  clock.now += livedUntil(0, SESSION_IDLE_MS) - 1;
  assert.equal(await isSignedIn(), true);
  clock.now += 1;
  assert.equal(await isSignedIn(), false);
  clock.step(-SESSION_IDLE_MS);
  assert.equal(await isSignedIn(), false);
});

test('removes no history that is younger in lived time than the wall clock says', async (t) => {
  const clock = makeClock();
  const folder = makeDataFolder(t);
  const store = await openStore(t, { folder, clock });
  const actor = await makeActor(store);
  const { id } = await store.createProduct(actor, makeNewProduct());
  for (const stock of countTo(10)) {
    await store.patchProduct(actor, { id }, { stock: 100 + stock }, {});
    await store.keepLivedTime();
    clock.now += DAY_MS;
  }
  const prune = async (): Promise<unknown> => {
    const pruned = Promise.withResolvers<void>();
    const watched = {
      findNewestTime: () => store.findNewestTime(),
      findTimeLivedAgo: (livedMs: number) => store.findTimeLivedAgo(livedMs),
      pruneIdempotency: () => store.pruneIdempotency(),
      pruneHistory: (before: number) => store.pruneHistory(before).then(pruned.resolve),
    };
    const end = startRetentionJob(watched, 7, assert.fail, clock);
    await pruned.promise;
    end();
    return readRows(folder, 'SELECT count(*) AS changes FROM change')[0]?.['changes'];
  };
  const changes = await prune();
  assert.equal(changes, 9); // of 11: those of the first three days, and not the snapshot
  for (const step of [5 * DAY_MS, -5 * DAY_MS, -YEARS_MS]) {
    clock.step(step);
    assert.equal(await prune(), changes);
  }
  clock.step(YEARS_MS);
  clock.now += 2 * DAY_MS;
  assert.equal(await prune(), 7);
});

test('names every file that reads the wall clock, with why a step does no harm', () => {
  const files = readSources().filter(({ code }) => WALL_CLOCK.test(code)).map(({ path }) => path);
  assert.ok(files.length > 60, 'the source was read');
  assert.deepEqual(Object.keys(CLOCK_CONSUMERS).sort(), files.sort());
  for (const [path, reason] of Object.entries(CLOCK_CONSUMERS)) {
    const [, file, title] = /^(test\/\S+\.ts): (.*)$/.exec(reason) ?? [];
    if (file === undefined || title === undefined) assert.match(reason, /\.$/, path);
    else assert.ok(readFileSync(join(ROOT, file), 'utf8').includes(title), `${path}: ${reason}`);
  }
});

/** Without comments and imports. */
function readSources(): readonly { readonly path: string; readonly code: string }[] {
  return loadSources().filter(({ path }) => path.endsWith('.ts')).map(({ path, lines }) => ({
    path: path.slice('src/'.length),
    code: lines.join('\n').replaceAll(/\/\*[^]*?\*\//g, '')
      .replaceAll(/\/\/ .*$/gm, '').replaceAll(/^import [^]*?;$/gm, ''),
  }));
}

test('ends sessions that began while the clock was ahead, once it is corrected', () => {
  const now = makeClock().now;
  const begun = (createdAt: number) => ({
    id: 1, createdAt, seenAt: createdAt, livedAt: 0, seenLivedAt: 0, address: '', userAgent: '',
  });
  const moment = { wall: now, lived: 0 };
  assert.equal(isAlive(begun(now + YEARS_MS), moment), false);
  assert.equal(isAlive(begun(now + CLOCK_STEP_LIMIT_MS), moment), true);
  assert.equal(isAlive(begun(now - SESSION_LIFE_MS), moment), false);
});

test('accepts one-time codes again once a clock is corrected, each once',
  async (t) => {
    // The secret of RFC 6238, appendix B, and its password at 59 s.
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' as TotpSecret;
    assert.equal(findTotpStep(secret, '287082', 59_000, 121), undefined);
    assert.equal(findTotpStep(secret, '287082', 59_000, 122), 1);
    const store = await openStore(t, { folder: makeDataFolder(t) });
    const { sellerId } = await makeAccount(store);
    const totp = { secret, step: 5_000, recoveryHashes: [] };
    await store.enableTotp(ownerOf(sellerId), totp, {});
    const take = (step: number) => store.takeTotpStep(ownerOf(sellerId), step);
    assert.deepEqual(
      [await take(4_880), await take(4_879), await take(4_879), await take(4_880)],
      [false, true, false, true],
    );
  });
