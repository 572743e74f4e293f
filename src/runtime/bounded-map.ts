/**
 * A map of limited size. A key that is set becomes the newest, also if it was there before; beyond
 * the limit, the oldest ones are deleted.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #limit: number;
  readonly #sizeOf: (value: Value) => number;
  #total = 0;

  /** @param sizeOf Must not change while the map has the value. Default: each counts as 1. */
  constructor(limit: number, sizeOf: (value: Value) => number = () => 1) {
    super();
    this.#limit = limit;
    this.#sizeOf = sizeOf;
  }

  override set(key: Key, value: Value): this {
    this.delete(key); // a Map keeps insertion order
    this.#total += this.#sizeOf(value);
    super.set(key, value);
    // An iterator passes over the entries that were deleted, which takes long in a large map.
    if (this.#total <= this.#limit) return this;
    for (const oldest of this.keys()) {
      if (this.#total <= this.#limit) break;
      this.delete(oldest);
    }
    return this;
  }

  override delete(key: Key): boolean {
    const value = this.get(key);
    if (value !== undefined) this.#total -= this.#sizeOf(value);
    return super.delete(key);
  }

  override clear(): void {
    super.clear();
    this.#total = 0;
  }
}
