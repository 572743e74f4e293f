/** The bytes of a file under construction, into which whole sectors of another can be copied. */

/** The least that a disk writes whole. */
export const SECTOR_BYTES = 512;

export class FileImage {
  #bytes: Buffer;
  #size: number;

  constructor(initial: Buffer) {
    this.#bytes = Buffer.from(initial);
    this.#size = initial.length;
  }

  /** What lies between the old end and `offset` reads as zeros. */
  write(offset: number, data: Buffer): void {
    this.#reach(offset + data.length);
    data.copy(this.#bytes, offset);
  }

  /** Never makes it smaller. */
  extend(size: number): void {
    if (size > this.#size) this.#reach(size);
  }

  resize(size: number): void {
    if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    this.#reach(size);
    this.#size = size;
  }

  /** Copies a sector from `other`, where it may be longer. */
  copySector(other: FileImage, sector: number): void {
    const start = sector * SECTOR_BYTES;
    const end = Math.min(start + SECTOR_BYTES, other.#size);
    if (start < end) this.write(start, other.#bytes.subarray(start, end));
  }

  read(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  #reach(size: number): void {
    if (size > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(size, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#size);
      this.#bytes = larger;
    }
    this.#size = Math.max(this.#size, size);
  }
}
