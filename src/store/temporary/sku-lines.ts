/**
 * The last line of each SKU in a file, in bounded memory: hash tables of numbers take far less
 * than a `Map` of texts, and less time than a database. A SKU counts as seen if its 64-bit hash
 * was; in a file of a million SKUs, two share one with a probability below 10^-7. Many small tables
 * instead of a large one, since a growing table is copied, and must not block the event loop. SKUs
 * for which they have no room are kept in a temporary database, which SQLite deletes by itself.
 */
import { randomInt } from 'node:crypto';
import { AppError } from '../../domain/error.ts';
import { IMPORT_SKU_TABLE_SLOTS_LIMIT, IMPORT_SKU_TABLES } from '../limits.ts';
import { openTemporary } from './temporary-database.ts';

const SLOTS_AT_FIRST = 64;
const FULL_SHARE = 0.75;
/** No line, since lines are numbered from 1. */
const FULL = 0;

export class SkuLines implements Disposable {
  /** Random, so that the author of a file cannot choose SKUs with equal hashes. */
  readonly #seed = randomInt(2 ** 32);
  readonly #tables: readonly LineTable[];
  #others: OtherLines | undefined;

  /** @param slotsLimit A power of two, for each table. */
  constructor(slotsLimit = IMPORT_SKU_TABLE_SLOTS_LIMIT) {
    this.#tables = Array.from({ length: IMPORT_SKU_TABLES }, () => new LineTable(slotsLimit));
  }

  /**
   * Notes a line of a SKU, from 1, and returns the one noted before it, if any.
   * @throws AppError `storage_full`
   */
  note(sku: string, line: number): number | undefined {
    const [high, low] = hash(sku, this.#seed);
    const previous = this.#tables[high % IMPORT_SKU_TABLES]?.note(high, low, line);
    if (previous !== FULL) return previous;
    try {
      this.#others ??= new OtherLines();
      return this.#others.note(sku, line);
    } catch (cause) {
      const detail = 'There is no disk space for the temporary list of the SKUs of this file.';
      throw new AppError('storage_full', detail, { cause });
    }
  }

  /** The last line noted for a SKU, if any. */
  find(sku: string): number | undefined {
    const [high, low] = hash(sku, this.#seed);
    return this.#tables[high % IMPORT_SKU_TABLES]?.find(high, low) ?? this.#others?.find(sku);
  }

  [Symbol.dispose](): void {
    this.#others?.close();
  }
}

/** In one transaction that is never committed. */
class OtherLines {
  readonly #db = openTemporary();
  readonly #find;
  readonly #keep;

  constructor() {
    this.#db.exec(`
      BEGIN;
      CREATE TABLE lines(sku TEXT PRIMARY KEY, line INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    `);
    this.#find = this.#db.prepare('SELECT line FROM lines WHERE sku = ?');
    this.#keep = this.#db.prepare('INSERT OR REPLACE INTO lines VALUES (?, ?)');
  }

  find(sku: string): number | undefined {
    const line = this.#find.get(sku)?.['line'];
    return typeof line === 'number' ? line : undefined;
  }

  note(sku: string, line: number): number | undefined {
    const previous = this.find(sku);
    this.#keep.run(sku, line);
    return previous;
  }

  close(): void {
    this.#db.close();
  }
}

/** Open addressing with linear probing: a hash of two numbers, and a line, where 0 is none. */
class LineTable {
  readonly #slotsLimit: number;
  #slots = new Uint32Array(3 * SLOTS_AT_FIRST);
  #count = 0;

  constructor(slotsLimit: number) {
    this.#slotsLimit = slotsLimit;
  }

  /** Returns `FULL` if there is no room. */
  note(high: number, low: number, line: number): number | undefined {
    const slots = this.#slots;
    const at = findSlot(slots, high, low);
    const previous = slots[at + 2];
    if (previous !== 0) {
      slots[at + 2] = line;
      return previous;
    }
    if (this.#count < slots.length / 3 * FULL_SHARE) {
      slots[at] = high;
      slots[at + 1] = low;
      slots[at + 2] = line;
      this.#count += 1;
    } else if (slots.length < 3 * this.#slotsLimit) {
      this.#grow();
      this.note(high, low, line);
    } else return FULL;
    return undefined;
  }

  find(high: number, low: number): number | undefined {
    return this.#slots[findSlot(this.#slots, high, low) + 2] || undefined;
  }

  #grow(): void {
    const from = this.#slots;
    const to = new Uint32Array(2 * from.length);
    for (let at = 0; at < from.length; at += 3) {
      const slot = from.subarray(at, at + 3);
      const [high = 0, low = 0, line] = slot;
      if (line !== 0) to.set(slot, findSlot(to, high, low));
    }
    this.#slots = to;
  }
}

/** Where this hash is, or where it can be added. */
function findSlot(slots: Uint32Array, high: number, low: number): number {
  let at = 3 * (low & (slots.length / 3 - 1));
  while (slots[at + 2] !== 0 && (slots[at] !== high || slots[at + 1] !== low)) {
    at = at + 3 === slots.length ? 0 : at + 3;
  }
  return at;
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
