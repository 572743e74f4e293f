/**
 * Where the power is cut, and what is lost: just before and just after every `fsync` and every
 * change of a name, and at random moments. At each, a random part of what was not yet safe
 * survives, from nothing to everything, by whole writes, pages, sectors and names.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Random } from '../../domain/random.ts';
import type { Change, Losses, Tree } from './disk-model.ts';
import { SECTOR_BYTES } from './file-image.ts';
import type { Recording } from './record.ts';

const MODELS = ['ordered', 'strict'] as const;
const PAGE_SECTORS = 4096 / SECTOR_BYTES;
/** Between two nanoseconds: after one, before the next. */
const AFTER = 0.5;

/** Keeps the effect of every call, as the running system saw it. */
export const NO_LOSS: Losses = {
  model: 'strict', pickJournalEnd: (_safe, all) => all, keepsName: () => true,
  keepsSize: () => true, keepsSector: () => true,
};

export interface Cut {
  readonly at: number;
  readonly model: Losses['model'];
}

/** How often the power is cut. */
export interface CutCounts {
  /** Around each `fsync` and name, in either model. */
  readonly around: number;
  /** At random moments: at these again, right after an answer, and anywhere. */
  readonly more: number;
}

/** The cuts in the order in which they are played. */
export function listCuts(
  { operations, receipts }: Recording, random: Random, counts: CutCounts,
): Cut[] {
  const around = operations.flatMap((operation) => {
    const { kind, begin, end } = operation;
    const isLock = 'path' in operation && operation.path.endsWith('.lock-journal'); // holds no data
    if (kind === 'write' || kind === 'truncate' || isLock) return [];
    return [begin, kind === 'sync' ? end : begin + AFTER];
  });
  const readAt = receipts.map(({ at }) => at + AFTER);
  const last = Math.max(...readAt, ...operations.map(({ end }) => end)) + 1;
  const anywhere = operations.flatMap(({ begin, end }) => [begin + AFTER, end + AFTER]);
  const models = Array.from({ length: counts.around }, () => MODELS).flat();
  const cuts = [...around, last].flatMap((at) => models.map((model) => ({ at, model })));
  for (let count = 0; count < counts.more; count += 1) {
    const moments = random.pick([around, [...readAt, last], anywhere]);
    cuts.push({ at: random.pick(moments), model: random.pick(MODELS) });
  }
  return cuts;
}

/** How much unsafe data is lost, and in which parts. */
export function drawLosses(random: Random, { at, model }: Cut): Losses {
  const names = random.pick(['none', 'all', 'each', 'each', 'each', 'before'] as const);
  const data = random.pick(['none', 'all', 'before', 'writes', 'pages', 'sectors'] as const);
  const likely = random.pick([0.1, 0.5, 0.5, 0.9]);
  const moment = at - random.pick([1e5, 1e6, 1e7, 1e8, 1e9]) * (random.below(1000) / 1000);
  const drawn = new Map<string, boolean>();
  const draw = (key: string, chance = likely): boolean => {
    const kept = drawn.get(key) ?? random.below(1000) < chance * 1000;
    drawn.set(key, kept);
    return kept;
  };
  const keeps = (mood: string, { id, begin }: Change, part = ''): boolean => {
    if (mood === 'all' || mood === 'none') return mood === 'all';
    return mood === 'before' ? begin < moment : draw(`${id}${part}`);
  };
  return {
    model,
    pickJournalEnd: (safe, all) =>
      (names === 'none' ? safe : names === 'all' ? all : safe + random.below(all - safe + 1)),
    keepsName: (change) =>
      (names === 'each' ? draw(`name ${change.id}`, 0.5) : keeps(names, change)),
    keepsSize: (change) => keeps(data, change),
    keepsSector(change, sector) {
      const page = data === 'pages' ? `p${Math.floor(sector / PAGE_SECTORS)}` : '';
      return keeps(data, change, data === 'sectors' ? `s${sector}` : page);
    },
  };
}

/** Identifies a state that was seen before. */
export function hashTree(tree: Tree): string {
  const hash = createHash('sha1');
  for (const [path, bytes] of [...tree].sort(([one], [other]) => (one < other ? -1 : 1))) {
    hash.update(`${path} ${bytes?.length ?? 'folder'}\n`).update(bytes ?? '');
  }
  return hash.digest('hex');
}

/** Writes the files of a state: the content of `root` goes to `folder`. */
export function writeTree(tree: Tree, root: string, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [path, bytes] of tree) {
    const target = join(folder, relative(root, path));
    mkdirSync(bytes ? dirname(target) : target, { recursive: true, mode: 0o700 });
    if (bytes) writeFileSync(target, bytes, { mode: 0o600 });
  }
}
