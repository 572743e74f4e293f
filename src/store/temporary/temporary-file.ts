/**
 * A file that only this process can open: it is unlinked right after it is created, so it
 * disappears however the process ends.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../domain/error.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import type { ImportFile } from '../nodes/import-job-store.ts';
import { createFolder } from '../sqlite/files/durable-files.ts';

const CHUNK_BYTES = 64 * 1024;
const FAILURES = [
  // EDQUOT: the quota of the server's user.
  { codes: ['ENOSPC', 'EDQUOT'], code: 'storage_full', problem: 'The server\'s disk is full.' },
  { codes: ['EMFILE', 'ENFILE'], code: 'unavailable', problem: 'Too many files are open.' },
  { codes: ['EIO', 'EROFS'], code: 'unavailable', problem: 'The server cannot write to its disk.' },
] as const;

export class TemporaryFile implements ImportFile {
  readonly #file: FileHandle;
  #sizeBytes = 0;

  /** Takes ownership of an open, empty file. */
  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Also creates a missing folder. @throws AppError `storage_full`, `unavailable` */
  static async create(folder: string): Promise<TemporaryFile> {
    const path = join(folder, randomUUID());
    try {
      const file = await openNew(path).catch((error: unknown) => {
        if (!isSystemError(error, 'ENOENT')) throw error;
        createFolder(folder);
        return openNew(path);
      });
      await unlink(path);
      return new TemporaryFile(file);
    } catch (error) {
      throw explain(error);
    }
  }

  /**
   * Stores a stream in the system's temporary folder.
   * @throws AppError `body_too_large` with this remedy, `storage_full`, `unavailable`
   */
  static async spool(
    this: void, chunks: AsyncIterable<Uint8Array>, limitBytes: number, remedy: string,
  ): Promise<TemporaryFile> {
    const file = await TemporaryFile.create(tmpdir());
    try {
      for await (const chunk of chunks) {
        if (file.sizeBytes + chunk.length > limitBytes) {
          const limit = `${limitBytes / 1024 ** 2} MiB`;
          throw new AppError('body_too_large', `The file has more than ${limit}. ${remedy}`);
        }
        await file.append(chunk);
      }
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Await each call before the next. @throws AppError `storage_full`, `unavailable` */
  async append(bytes: Uint8Array): Promise<void> {
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
      const chunk = await this.readAt(at, Math.min(CHUNK_BYTES, this.#sizeBytes - at));
      if (chunk.length === 0) return;
      at += chunk.length;
      yield chunk;
    }
  }

  /** Reads these bytes, or fewer if the file ends before. */
  async readAt(position: number, lengthBytes: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(lengthBytes);
    const { bytesRead } = await this.#file.read({ buffer, position });
    return buffer.subarray(0, bytesRead);
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
