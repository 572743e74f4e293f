/**
 * How long each heavy request blocks all others: the longest iteration of the server's event loop
 * while it processes the request. The minimum of several rounds counts, because other processes
 * cause single long iterations; CPU time excludes them. Arguments select requests by words in
 * their names.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LongestIteration } from './monitor.ts';
import { requests } from './requests.ts';
import { openMeasuredShop } from './shop.ts';

const ROUNDS = 3;

export async function measureLoop(folder: string, words: readonly string[] = []): Promise<void> {
  const shop = await openMeasuredShop(folder);
  console.log(`\nThe longest iteration of the event loop, ms: minimum of ${ROUNDS} rounds`);
  console.log(`${'wall'.padStart(8)}${'CPU'.padStart(9)}`);
  for (const [name, send] of Object.entries(requests)) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    const rounds: LongestIteration[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await shop.readLongest();
      await send(shop, round);
      rounds.push(await shop.readLongest());
    }
    const minimum = (read: (longest: LongestIteration) => number): string =>
      Math.min(...rounds.map(read)).toFixed(1);
    const [wall, cpu] = [minimum(({ wallMs }) => wallMs), minimum(({ cpuMs }) => cpuMs)];
    console.log(`${wall.padStart(8)}${cpu.padStart(9)}  ${name}`);
  }
  await shop.server.stop();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-loop-'));
  try {
    await measureLoop(join(folder, 'data'), process.argv.slice(2));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
