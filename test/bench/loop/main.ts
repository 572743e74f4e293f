/**
 * How long each heavy request holds up all others: the longest turn of the event loop of a real
 * server while it is answered. The least of several rounds counts, for the machine itself is the
 * cause of single long ones; the time on a processor leaves other processes out. With words as
 * arguments, only the requests that have one of them in their names.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LongestTurn } from './monitor.ts';
import { requests } from './requests.ts';
import { openMeasuredShop } from './shop.ts';

const ROUNDS = 3;

export async function measureLoop(folder: string, words: readonly string[] = []): Promise<void> {
  const shop = await openMeasuredShop(folder);
  console.log(`\nThe longest turn of the event loop, ms: the least of ${ROUNDS} rounds`);
  console.log(`${'wall'.padStart(8)}${'its own'.padStart(9)}`);
  for (const [name, send] of Object.entries(requests)) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    const rounds: LongestTurn[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await shop.ask();
      await send(shop, round);
      rounds.push(await shop.ask());
    }
    const least = (read: (turn: LongestTurn) => number): string =>
      Math.min(...rounds.map(read)).toFixed(1);
    const [wall, cpu] = [least(({ wallMs }) => wallMs), least(({ cpuMs }) => cpuMs)];
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
