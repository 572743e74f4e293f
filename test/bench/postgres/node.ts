/**
 * A node: a process with its own store on the database. For each message of its parent it creates
 * products, and replies with their number per second.
 */
import { openStoreAt } from './database.ts';
import { measureRate, productOf, type Shop, subjectOf } from './subject.ts';

/** What the parent sends, once for each measurement. */
export interface NodeLoad {
  readonly shops: readonly Shop[];
  readonly callers: number;
  readonly durationMs: number;
  /** The prefix of the SKUs, unique for each measurement and node. */
  readonly series: string;
}

const subject = subjectOf(await openStoreAt(process.argv[2] ?? ''));
process.on('message', async ({ shops, callers, durationMs, series }: NodeLoad) => {
  process.send?.(await measureRate(callers, durationMs, async (n) => {
    const shop = shops[n % shops.length];
    if (shop) await subject.create(shop, productOf(n, series));
  }));
}).on('disconnect', () => void subject.close());
process.send?.('ready');
