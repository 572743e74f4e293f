/**
 * A file that only this process can open: it is unlinked right after it is created, so it
 * disappears however the process ends.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../domain/error.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import type { ImportFile } from '../nodes/import-job-store.ts';
import { createFolder } from '../sqlite/files/durable-files.ts';

const CHUNK_BYTES = 64 * 1024;
const FAILURES = [
  // EDQUOT: the quota of the server's user.
  { codes: ['ENOSPC', 'EDQUOT'], code: 'storage_full', problem: 'The server\'s disk is full.' },
  { codes: ['EIO', 'EROFS'], code: 'unavailable', problem: 'The server cannot write to its disk.' },
] as const;

export class TemporaryFile implements ImportFile {
  readonly #file: FileHandle;
  readonly #limitBytes: number;
  #sizeBytes = 0;

  /** Takes ownership of an open, empty file. */
  constructor(file: FileHandle, limitBytes = Infinity) {
    this.#file = file;
    this.#limitBytes = limitBytes;
  }

  /** Also creates a missing folder. @throws AppError `storage_full`, `unavailable` */
  static async create(folder: string, limitBytes = Infinity): Promise<TemporaryFile> {
    const path = join(folder, randomUUID());
    try {
      const file = await openNew(path).catch((error: unknown) => {
        if (!isSystemError(error, 'ENOENT')) throw error;
        createFolder(folder);
        return openNew(path);
      });
      await unlink(path);
      return new TemporaryFile(file, limitBytes);
    } catch (error) {
      throw explain(error);
    }
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /**
   * Await each call before the next.
   * @throws AppError `storage_full`, `unavailable`; `body_too_large` instead of passing its limit
   */
  async append(bytes: Uint8Array): Promise<void> {
    if (this.#sizeBytes + bytes.length > this.#limitBytes) {
      throw new AppError('body_too_large', `The file has more than ${this.#limitBytes} bytes.`);
    }
    try {
      await this.#file.appendFile(bytes);
      this.#sizeBytes += bytes.length;
    } catch (error) {
      throw explain(error);
    }
  }

  /** Reads from the beginning; several readers may run at the same time. */
  async *read(): AsyncGenerator<Buffer, void, void> {
    for (let at = 0; at < this.#sizeBytes;) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, this.#sizeBytes - at));
      const { bytesRead } = await this.#file.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  }

  /** Releases the disk space. Later reads fail. */
  async close(): Promise<void> {
    await this.#file.close();
  }
}

function openNew(path: string): Promise<FileHandle> {
  return open(path, 'wx+', 0o600);
}

function explain(error: unknown): unknown {
  const failure = FAILURES.find(({ codes }) => isSystemError(error, ...codes));
  return failure === undefined ? error
    : new AppError(failure.code, `${failure.problem} The file was not kept.`, { cause: error });
}
