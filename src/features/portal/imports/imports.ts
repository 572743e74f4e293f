/**
 * The imports of the portal in this process: its memory is all that they are kept in, so a restart
 * forgets them, and not what they wrote. What belongs to one seller is not there for another.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { ConcurrencyLimiter } from '../../../http/concurrency-limiter.ts';
import {
  IMPORT_LIFE_MS, IMPORT_SWEEP_INTERVAL_MS, IMPORTS_KEPT_LIMIT, IMPORTS_KEPT_PER_SELLER_LIMIT,
  UPLOAD_LIMIT_BYTES, CONCURRENT_UPLOADS_LIMIT, CONCURRENT_UPLOADS_PER_SELLER_LIMIT,
} from '../limits.ts';
import { readFileHead } from './file-head.ts';
import { type Importer, type ImportMeans, ProductImport } from './product-import.ts';
import { TemporaryFile } from './temporary-file.ts';

export class Imports {
  readonly #means: ImportMeans;
  /** The one that was uploaded last comes last. */
  readonly #imports = new Map<string, ProductImport>();
  readonly #uploads = new ConcurrencyLimiter<SellerId>('uploads', {
    total: CONCURRENT_UPLOADS_LIMIT, perOwner: CONCURRENT_UPLOADS_PER_SELLER_LIMIT,
  });
  readonly #sweeping: NodeJS.Timeout;
  #isClosed = false;

  constructor(means: ImportMeans) {
    this.#means = means;
    this.#sweeping = setInterval(() => this.#sweep(), IMPORT_SWEEP_INTERVAL_MS).unref();
  }

  /**
   * Receives a file, as fast as it comes, and begins to try it.
   * @throws AppError `invalid_data`, `body_too_large`, `storage_full`; `unavailable` where too many
   * are under way, or the server is stopping
   */
  async receive(
    importer: Importer, name: string, content: AsyncIterable<Buffer>,
  ): Promise<ProductImport> {
    const end = this.#uploads.acquire(importer.sellerId);
    try {
      const file = await TemporaryFile.create(this.#means.folder);
      try {
        await fill(file, content);
        const head = await readFileHead(() => file.read());
        return this.#add(new ProductImport(
          randomUUID(), importer, { name, file, head }, this.#means,
        ));
      } catch (error) {
        await file.close();
        throw error;
      }
    } finally {
      end();
    }
  }

  /** @throws AppError `not_found` */
  get(sellerId: SellerId, id: string): ProductImport {
    this.#sweep();
    const found = this.#imports.get(id);
    if (found?.importer.sellerId === sellerId) return found;
    const what = 'This import no longer exists. The products that it imported are kept.';
    throw new AppError('not_found', `${what} To continue, upload the file again.`);
  }

  /** The newest first. */
  list(sellerId: SellerId): readonly ProductImport[] {
    this.#sweep();
    return [...this.#imports.values()].reverse()
      .filter(({ importer }) => importer.sellerId === sellerId);
  }

  /** Ends an import, and forgets it. @throws AppError `not_found` */
  async discard(sellerId: SellerId, id: string): Promise<void> {
    await this.#forget(this.get(sellerId, id));
  }

  /** Ends all imports, and gives the room of their files back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeping);
    await Promise.all([...this.#imports.values()].map((one) => this.#forget(one)));
  }

  #add(one: ProductImport): ProductImport {
    if (this.#isClosed) throw new AppError('unavailable', 'The server is shutting down.');
    const { sellerId } = one.importer;
    // Those that go on have a limit of their own, which is below these.
    const own = this.list(sellerId);
    const all = [...this.#imports.values()];
    if (own.length >= IMPORTS_KEPT_PER_SELLER_LIMIT) this.#forgetOldest(own);
    else if (all.length >= IMPORTS_KEPT_LIMIT) this.#forgetOldest(all);
    this.#makeRoom(one.heldBytes);
    this.#imports.set(one.id, one);
    one.try(one.settings);
    return one;
  }

  /** So that the files of all are not more than there is a limit for, but for those that go on. */
  #makeRoom(neededBytes: number): void {
    for (;;) {
      const all = [...this.#imports.values()];
      const heldBytes = all.reduce((sum, one) => sum + one.heldBytes, 0);
      if (heldBytes + neededBytes <= this.#means.keptLimitBytes) return;
      if (!this.#forgetOldest(all.filter((one) => one.heldBytes > 0))) return;
    }
  }

  /** Whether there was one that can be forgotten. */
  #forgetOldest(imports: readonly ProductImport[]): boolean {
    const [oldest] = imports.filter(({ isBusy }) => !isBusy)
      .sort((one, other) => one.touchedAt - other.touchedAt);
    if (oldest) void this.#forget(oldest);
    return oldest !== undefined;
  }

  #sweep(): void {
    const before = this.#means.clock() - IMPORT_LIFE_MS;
    for (const one of this.#imports.values()) {
      if (!one.isBusy && one.touchedAt < before) void this.#forget(one);
    }
  }

  async #forget(one: ProductImport): Promise<void> {
    this.#imports.delete(one.id);
    try {
      await one.close();
    } catch (error) {
      this.#means.report({ id: 'import', error });
    }
  }
}

async function fill(file: TemporaryFile, content: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of content) {
    if (file.sizeBytes + chunk.length > UPLOAD_LIMIT_BYTES) {
      const most = `${UPLOAD_LIMIT_BYTES / 1024 / 1024} MiB`;
      const hint = 'Split it, or use the command line, which accepts files of any size';
      throw new AppError('body_too_large', `The file is larger than ${most}. ${hint}.`);
    }
    await file.append(chunk);
  }
}
