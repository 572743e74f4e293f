/**
 * The last line of each SKU in a file, and the level and price noted with it, in bounded memory:
 * hash tables of numbers take far less than a `Map` of texts, and less time than a database. A SKU
 * counts as seen if its 64-bit hash was; in a file of a million SKUs, two share one with a
 * probability below 10^-7. Many small tables instead of a large one, since a growing table is
 * copied, and must not block the event loop. SKUs for which they have no room are kept in a
 * temporary database, which SQLite deletes by itself.
 */
import { randomInt } from 'node:crypto';
import { AppError } from '../../domain/error.ts';
import { IMPORT_SKU_TABLE_SLOTS_LIMIT, IMPORT_SKU_TABLES } from '../limits.ts';
import { openTemporaryItems } from './temporary-database.ts';

const SLOTS_AT_FIRST = 64;
const FULL_SHARE = 0.75;
const FULL = null;

/** What was noted for a SKU. */
export interface SkuEntry {
  /** From 1. */
  readonly line: number;
  readonly level: number;
  readonly price: number;
}

interface SkuOptions {
  /** Whether levels and prices are kept as well. Default: false. */
  readonly hasValues?: boolean;
  /** A power of two, for each table. */
  readonly slotsLimit?: number;
}

export class SkuLines implements Disposable {
  /** Random, so that the author of a file cannot choose SKUs with equal hashes. */
  readonly #seed = randomInt(2 ** 32);
  readonly #tables: readonly SkuTable[];
  #others: ReturnType<typeof openTemporaryItems<SkuEntry>> | undefined;

  constructor({ hasValues = false, slotsLimit = IMPORT_SKU_TABLE_SLOTS_LIMIT }: SkuOptions = {}) {
    this.#tables =
      Array.from({ length: IMPORT_SKU_TABLES }, () => new SkuTable(slotsLimit, hasValues));
  }

  /**
   * Notes the line of a SKU, a level below 2^32 and a price below 2^53, and returns what was noted
   * before, if anything.
   * @throws AppError `storage_full`
   */
  note(sku: string, line: number, level = 0, price = 0): SkuEntry | undefined {
    const [high, low] = hash(sku, this.#seed);
    const previous = this.#tables[high % IMPORT_SKU_TABLES]?.note(high, low, line, level, price);
    if (previous !== FULL) return previous;
    try {
      this.#others ??= openTemporaryItems();
      const earlier = this.#others.find(sku);
      this.#others.set(sku, { line, level, price });
      return earlier;
    } catch (cause) {
      const detail = 'There is no disk space for the temporary list of the SKUs of this file.';
      throw new AppError('storage_full', detail, { cause });
    }
  }

  /** The last line noted for a SKU, if any. */
  find(sku: string): number | undefined {
    const [high, low] = hash(sku, this.#seed);
    const line = this.#tables[high % IMPORT_SKU_TABLES]?.find(high, low);
    return line ?? this.#others?.find(sku)?.line;
  }

  [Symbol.dispose](): void {
    this.#others?.close();
  }
}

/**
 * Open addressing with linear probing. A slot has a hash of two numbers, and a line, where 0 is
 * none; if it has values, then a level, and a price in two numbers.
 */
class SkuTable {
  readonly #slotsLimit: number;
  readonly #width: number;
  #slots: Uint32Array;
  #count = 0;

  constructor(slotsLimit: number, hasValues: boolean) {
    this.#slotsLimit = slotsLimit;
    this.#width = hasValues ? 6 : 3;
    this.#slots = new Uint32Array(this.#width * SLOTS_AT_FIRST);
  }

  /** Returns `FULL` if there is no room. */
  note(
    high: number, low: number, line: number, level: number, price: number,
  ): SkuEntry | undefined | typeof FULL {
    const at = this.#findSlot(high, low);
    const previous = this.#read(at);
    if (!previous) {
      const slotCount = this.#slots.length / this.#width;
      if (this.#count >= slotCount * FULL_SHARE) {
        if (slotCount >= this.#slotsLimit) return FULL;
        this.#grow();
        return this.note(high, low, line, level, price);
      }
      this.#slots[at] = high;
      this.#slots[at + 1] = low;
      this.#count += 1;
    }
    this.#slots[at + 2] = line;
    if (this.#width > 3) {
      this.#slots[at + 3] = level;
      this.#slots[at + 4] = price / 2 ** 32; // without its fraction
      this.#slots[at + 5] = price; // modulo 2^32
    }
    return previous;
  }

  find(high: number, low: number): number | undefined {
    return this.#slots[this.#findSlot(high, low) + 2] || undefined;
  }

  #read(at: number): SkuEntry | undefined {
    const slots = this.#slots;
    const line = slots[at + 2] ?? 0;
    if (line === 0) return undefined;
    if (this.#width === 3) return { line, level: 0, price: 0 };
    const [level = 0, high = 0, low = 0] = slots.subarray(at + 3, at + 6);
    return { line, level, price: high * 2 ** 32 + low };
  }

  #grow(): void {
    const from = this.#slots;
    this.#slots = new Uint32Array(2 * from.length);
    const width = this.#width;
    for (let at = 0; at < from.length; at += width) {
      if (from[at + 2] === 0) continue;
      const to = this.#findSlot(from[at] ?? 0, from[at + 1] ?? 0);
      for (let part = 0; part < width; part += 1) this.#slots[to + part] = from[at + part] ?? 0;
    }
  }

  /** Where this hash is, or where it can be added. */
  #findSlot(high: number, low: number): number {
    const slots = this.#slots;
    const width = this.#width;
    let at = width * (low & (slots.length / width - 1));
    while (slots[at + 2] !== 0 && (slots[at] !== high || slots[at + 1] !== low)) {
      at = at + width === slots.length ? 0 : at + width;
    }
    return at;
  }
}

/** Two numbers of 32 bits: multiply and mix, as MurmurHash3 does. */
function hash(text: string, seed: number): readonly [high: number, low: number] {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return [high >>> 0, low >>> 0];
}
