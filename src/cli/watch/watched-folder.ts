/**
 * A folder into which other programs put files. A file is complete once its size and its time of
 * modification have not changed for the settle time; hidden files and those with a temporary name
 * are never complete. Complete files are claimed one by one, oldest first. One process watches a
 * folder at a time.
 */
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { formatFileTime } from '../../domain/time.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import { syncFolder } from '../../store/sqlite/files/durable-files.ts';
import { tryLock } from '../../store/sqlite/files/atomic-file.ts';
import { CommandFailure } from '../command.ts';
import { Claim, type Published } from './claim.ts';

interface FolderOptions {
  readonly settleMs: number;
  /** Whether to claim a file of this name. */
  isWanted(name: string): boolean;
  /** Called once for each file that is not claimed. */
  onIgnored(name: string, why: string): void;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Milliseconds that never go back. */
  readonly timer: () => number;
}

interface Sighting {
  /** Differs when the file does. */
  readonly version: string;
  readonly modifiedMs: number;
  /** When this version was seen first, by the timer. */
  readonly sinceMs: number;
}

const LOCK = '.lock';
/** How programs name files that they are still writing. */
const TEMPORARY = /^[.~]|\.(?:tmp|temp|part|partial|filepart|crdownload)$|~$/i;

export class WatchedFolder implements Disposable {
  readonly path: string;
  readonly #sending: string;
  readonly #done: string;
  readonly #rejected: string;
  readonly #options: FolderOptions;
  readonly #lock: Disposable;
  #sightings: ReadonlyMap<string, Sighting> = new Map();
  /** Complete files, oldest first. */
  #ready: string[] = [];
  readonly #ignored = new Set<string>();

  /** @throws CommandFailure if there is no such folder, or another process watches it */
  constructor(path: string, options: FolderOptions) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      throw new CommandFailure(`There is no folder ${path}.`);
    }
    this.path = resolve(path);
    this.#sending = join(this.path, 'sending');
    this.#done = join(this.path, 'done');
    this.#rejected = join(this.path, 'rejected');
    this.#options = options;
    for (const folder of [this.#sending, this.#done, this.#rejected]) {
      mkdirSync(folder, { recursive: true });
      if (statSync(folder).dev !== statSync(path).dev) {
        throw new CommandFailure(`${folder} must be on the same file system as ${path}.`);
      }
    }
    syncFolder(path); // these folders must be durable before files are moved into them
    const lock = tryLock(join(this.#sending, LOCK));
    if (!lock) throw new CommandFailure(`Another process watches ${path}. Stop it first.`);
    this.#lock = lock;
  }

  /** The next file: one that was claimed before, or the oldest complete one. */
  next(): Claim | undefined {
    return this.#findClaim() ?? this.#claimFirst(this.#ready) ?? this.#claimFirst(this.#scan());
  }

  publish(claim: Claim): Published {
    return claim.publish(this.#done, this.#rejected);
  }

  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]();
  }

  #findClaim(): Claim | undefined {
    for (const name of readdirSync(this.#sending).sort()) {
      if (!Claim.isFolder(name)) continue;
      const claim = new Claim(join(this.#sending, name));
      if (!claim.isEmpty) return claim;
      claim.remove();
    }
    return undefined;
  }

  /** Claims the first of these files that is still as it was when it was complete. */
  #claimFirst(ready: string[]): Claim | undefined {
    this.#ready = ready; // those after it are for later calls
    for (let name = ready.shift(); name !== undefined; name = ready.shift()) {
      const version = this.#look(name)?.version;
      const isSame = version !== undefined && version === this.#sightings.get(name)?.version;
      const claim = isSame ? this.#claim(name) : undefined;
      if (claim) return claim;
    }
    return undefined;
  }

  /** Moves the file into a folder of its own. Undefined if it is gone. */
  #claim(name: string): Claim | undefined {
    const id = `${formatFileTime(this.#options.clock())}-${randomUUID()}`;
    const folder = join(this.#sending, id);
    mkdirSync(folder);
    syncFolder(this.#sending); // before the move: if this folder were lost, so would the file
    try {
      renameSync(join(this.path, name), join(folder, name));
    } catch (error) {
      rmdirSync(folder);
      if (!isSystemError(error, 'ENOENT')) throw error;
      return undefined;
    }
    // Durable before it is sent: a power cut must not bring the file back under another id.
    for (const changedFolder of [folder, this.path]) syncFolder(changedFolder);
    return new Claim(folder);
  }

  /** The names of complete files, oldest first. */
  #scan(): string[] {
    const now = this.#options.timer();
    const sightings = new Map<string, Sighting>();
    for (const name of readdirSync(this.path)) {
      const sighting = TEMPORARY.test(name) ? undefined : this.#look(name);
      if (!sighting) continue;
      const earlier = this.#sightings.get(name);
      const isSame = earlier?.version === sighting.version;
      sightings.set(name, isSame ? earlier : { ...sighting, sinceMs: now });
    }
    this.#sightings = sightings;
    return [...sightings]
      .filter(([, { sinceMs }]) => now - sinceMs >= this.#options.settleMs)
      .sort(([name, { modifiedMs }], [other, { modifiedMs: otherMs }]) =>
        modifiedMs - otherMs || (name < other ? -1 : 1))
      .map(([name]) => name);
  }

  /** Undefined for a file that is not claimed, or does not exist. */
  #look(name: string): Omit<Sighting, 'sinceMs'> | undefined {
    const file = lstatSync(join(this.path, name), { throwIfNoEntry: false });
    if (!file && name.includes('\ufffd')) return this.#ignore(name, 'its name is not UTF-8');
    if (!file || file.isDirectory()) return undefined;
    const why = !file.isFile() ? 'it is not a regular file'
      : !this.#options.isWanted(name) ? 'its name does not say CSV, .xlsx or NDJSON'
      : file.size === 0 ? 'it is still empty' : undefined;
    if (why !== undefined) return this.#ignore(name, why);
    this.#ignored.delete(name);
    return { version: `${file.ino} ${file.size} ${file.mtimeMs}`, modifiedMs: file.mtimeMs };
  }

  #ignore(name: string, why: string): undefined {
    if (!this.#ignored.has(name)) this.#options.onIgnored(name, why);
    this.#ignored.add(name);
  }
}
