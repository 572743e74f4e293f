/** Full, failing and slow disks: correct rejections, and recovery without a restart. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { forRandomAsync, makeRandom, type Random } from '../domain/random.ts';
import { FILE_NAME } from '../store/sqlite/engine/read-file.ts';
import type { Serving } from '../support/command.ts';
import { send } from '../support/http.ts';
import { fillDisk, freeDisk, mountSmallDisk } from '../support/small-disk.ts';
import { injectFault, type InjectedFault, NO_STRACE } from '../support/strace.ts';
import { startReading } from './reads.ts';
import { check, checkFiles, checkWebhook, openShop, serve, type Shop, work } from './shop.ts';

test('keeps reading while the disk is full, and writes again once there is space',
  async (t) => {
    const disk = mountSmallDisk(t, '24m');
    if (disk === undefined) return;
    const shop = await openShop(t, makeRandom(1), join(disk, 'data'));
    let serving = await serve(t, shop);
    await workUntil(shop, serving, { answers: 200 });
    for (let round = 1; round <= 5; round += 1) {
      fillDisk(disk);
      const reading = startReading(serving.port, shop.key);
      const { rejected } = await workUntil(shop, serving, { rejections: 300 });
      assert.ok(rejected.has(507), [...rejected.keys()].join());
      const found = await search(shop, serving);
      assert.ok([200, 503].includes(found), String(found));
      await reading.end(t);
      freeDisk(disk);
      await workUntil(shop, serving, { answers: 100 });
      assert.equal(await searchUntilFound(shop, serving), 200);
      await check(shop, serving);
      if (round === 3) { // a crash while the disk is full
        fillDisk(disk);
        await workUntil(shop, serving, { rejections: 50 });
        assert.equal(await serving.stop('SIGKILL'), null);
        freeDisk(disk);
        serving = await serve(t, shop);
        await check(shop, serving);
      }
    }
    await stopAndCheck(shop, serving);
  });

/** Each fault starts under load, and ends while the server runs. */
const FAULTS: readonly (
  readonly [what: string, suffix: string, fault: Omit<InjectedFault, 'file'>]
)[] = [
  ['no page of the WAL can be written', '-wal', { calls: 'pwrite64', becomes: 'error=EIO' }],
  ['some WAL pages cannot be written', '-wal',
    { calls: 'pwrite64', becomes: 'error=EIO:when=3+9' }],
  ['there is no room for the WAL', '-wal', { calls: 'pwrite64', becomes: 'error=ENOSPC:when=2+5' }],
  ['the WAL cannot be synced', '-wal', { calls: 'fsync', becomes: 'error=EIO' }],
  ['some of the WAL cannot be synced', '-wal', { calls: 'fsync', becomes: 'error=EIO:when=1+3' }],
  ['the WAL cannot be read', '-wal', { calls: 'pread64', becomes: 'error=EIO:when=2+3' }],
];

for (const [what, suffix, fault] of FAULTS) {
  const title = `keeps every acknowledged and no rejected change where ${what}`;
  test(title, { skip: NO_STRACE }, (t) => forRandomAsync(1, async (random) => {
    await survive(t, random, { suffix, fault });
  }));
}

/** Three rounds of a fault under load, one of them with a kill -9. */
async function survive(
  t: TestContext, random: Random,
  { suffix, fault }: { readonly suffix: string; readonly fault: Omit<InjectedFault, 'file'> },
): Promise<void> {
  const shop = await openShop(t, random);
  let serving = await serve(t, shop);
  await workUntil(shop, serving, { answers: 100 });
  const file = join(shop.folder, FILE_NAME + suffix);
  const isReading = fault.calls === 'pread64';
  let rejections = 0;
  for (let round = 0; round < 3; round += 1) {
    const reading = isReading ? undefined : startReading(serving.port, shop.key);
    const tracing = await injectFault(t, serving.child, { ...fault, file });
    const until = { rejections: isReading ? 0 : 60, answers: 40 };
    const { rejected } = await workUntil(shop, serving, until);
    for (const times of rejected.values()) rejections += times;
    await reading?.end(t);
    if (round === 1) assert.equal(await serving.stop('SIGKILL'), null);
    await tracing.end();
    assert.match(tracing.read().join('\n'), /\(INJECTED\)/, 'no call has failed');
    if (round === 1) serving = await serve(t, shop);
    else await workUntil(shop, serving, { answers: 60 });
    await check(shop, serving);
  }
  t.diagnostic(`${rejections} rejections, one kill -9 among them`);
  await stopAndCheck(shop, serving);
}

const SLOW = { skip: NO_STRACE };

test('answers reads while each fsync takes two seconds', SLOW, async (t) => {
  const shop = await openShop(t, makeRandom(3));
  const serving = await serve(t, shop);
  await workUntil(shop, serving, { answers: 100 });
  const slow = { calls: 'fsync,fdatasync', becomes: 'delay_enter=2000000' };
  const tracing = await injectFault(t, serving.child, slow);
  const reading = startReading(serving.port, shop.key);
  await workUntil(shop, serving, { answers: 16 });
  const medianMs = await reading.end(t);
  assert.ok(medianMs < 1_000, `reads wait for writes: half of them took ${medianMs} ms or more`);
  await tracing.end();
  await check(shop, serving);
  await stopAndCheck(shop, serving);
});

interface Until {
  readonly answers?: number;
  readonly rejections?: number;
}

/** Works until there are this many of either; returns the rejections by status. */
async function workUntil(
  shop: Shop, serving: Serving, { answers = Infinity, rejections = Infinity }: Until,
): Promise<{ readonly rejected: Map<number, number> }> {
  const enough = new AbortController();
  const rejected = new Map<number, number>();
  let count = 0;
  await work(shop, serving, {
    end: enough.signal,
    onAnswer(made) {
      if (made >= answers) enough.abort();
    },
    onRejection(status) {
      rejected.set(status, (rejected.get(status) ?? 0) + 1);
      if ((count += 1) >= rejections) enough.abort();
    },
  });
  assert.equal(serving.child.exitCode, null, serving.notes());
  return { rejected };
}

async function search({ key }: Shop, { port }: Serving): Promise<number> {
  const path = '/api/v1/products?q=mug&sort=-price&limit=5';
  return (await send(port, { path, headers: { 'x-api-key': key } })).status;
}

async function searchUntilFound(shop: Shop, serving: Serving): Promise<number> {
  for (;;) {
    const status = await search(shop, serving);
    if (status !== 503) return status;
  }
}

async function stopAndCheck(shop: Shop, serving: Serving): Promise<void> {
  await checkWebhook(shop);
  assert.equal(await serving.stop('SIGTERM'), 0);
  checkFiles(shop);
}
