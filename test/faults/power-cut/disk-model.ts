/**
 * A model of a disk with a volatile cache: what a file system may keep of a recorded run when the
 * power is cut. Two models, since file systems promise different things:
 *
 * - `strict` is what POSIX promises, and no more. The bytes and the size of a file are safe after
 *   `fsync` of that file; a name (created, renamed, linked, removed) is safe after `fsync` of its
 *   folder. Everything later may be lost, each write and each name independently of the others.
 * - `ordered` is what ext4 and XFS do. Names and sizes go through one journal, so what survives of
 *   them is a prefix of their history; `fsync` of a file or a folder makes the journal safe up
 *   to its own last change there. Unsynced bytes may be lost as above.
 *
 * A write can reach the disk as soon as it is called; it is safe only if it had returned before a
 * call of `fsync` that returned, too. A sector (512 bytes) is written whole or not at all; a page,
 * and a write of several pages, may be torn between sectors. A sector that is kept has the bytes
 * that it had in memory after one of the writes, so no write to it comes without the earlier ones.
 */
import { basename, dirname } from 'node:path';
import { FileImage, SECTOR_BYTES } from './file-image.ts';
import type { FileOperation, Span } from './operation.ts';

/** Files by absolute path; folders have no bytes. Parents come first. */
export type Tree = ReadonlyMap<string, Buffer | undefined>;

/** What a crash keeps of the data that was not safe. */
export interface Losses {
  readonly model: 'ordered' | 'strict';
  /** The length of the surviving `ordered` journal, between the safe changes and all of them. */
  pickJournalEnd(safe: number, all: number): number;
  keepsName(change: Change): boolean;
  keepsSize(change: Change): boolean;
  keepsSector(change: Change, sector: number): boolean;
}

export interface Change extends Span {
  readonly id: number;
}

interface Node {
  readonly isFolder: boolean;
  readonly initial: Buffer;
  readonly changes: DataChange[];
  readonly syncs: Span[];
}

/** New bytes, or a new size where there are none. */
interface DataChange extends Change {
  readonly offset: number;
  readonly data: Buffer | undefined;
}

interface NameChange extends Change {
  readonly edits: readonly Edit[];
}

interface Edit {
  readonly folder: Node;
  readonly name: string;
  /** The node that has the name from now on; undefined for a removed name. */
  readonly node: Node | undefined;
}

/** What goes through the journal of the `ordered` model. */
interface Journaled extends Change {
  readonly nodes: readonly Node[];
}

export class Disk {
  readonly #root: string;
  readonly #rootNode = makeNode(true);
  /** The names after all calls so far. */
  readonly #live = new Map<string, Node>();
  readonly #nodes: Node[] = [];
  readonly #initialNames: Edit[] = [];
  readonly #nameChanges: NameChange[] = [];
  readonly #journal: Journaled[] = [];
  readonly #sizes = new Map<Node, number>();
  #lastId = 0;

  /** Begins with the folder `root` and the files `initial` in it, all of it safe. */
  constructor(root: string, initial: Tree) {
    this.#root = root;
    this.#nodes.push(this.#rootNode);
    this.#live.set(root, this.#rootNode);
    for (const [path, bytes] of initial) {
      const node = this.#add(bytes === undefined, bytes);
      this.#initialNames.push({ folder: this.#find(dirname(path)), name: basename(path), node });
      this.#live.set(path, node);
    }
  }

  /** Records the next call of the run, in the order of the calls. */
  apply(operation: FileOperation): void {
    switch (operation.kind) {
      case 'open': {
        const { path, isTruncating } = operation;
        if (!this.#live.has(path)) this.#name(operation, [[path, this.#add(false)]]);
        else if (isTruncating) this.#resize(operation, this.#find(path), 0);
        return;
      }
      case 'write':
        this.#write(operation, this.#find(operation.path), operation.offset, operation.data);
        return;
      case 'truncate':
        this.#resize(operation, this.#find(operation.path), operation.size);
        return;
      case 'sync':
        this.#find(operation.path).syncs.push(operation);
        return;
      case 'mkdir':
        this.#name(operation, [[operation.path, this.#add(true)]]);
        return;
      case 'unlink': case 'rmdir':
        this.#name(operation, [[operation.path, undefined]]);
        return;
      case 'link':
        this.#name(operation, [[operation.to, this.#find(operation.from)]]);
        return;
      case 'rename': {
        const { from, to } = operation;
        if (this.#find(from).isFolder) throw new Error(`A folder is renamed: ${from}`);
        this.#name(operation, [[from, undefined], [to, this.#find(from)]]);
      }
    }
  }

  /** The content of the disk if the power is cut at this time. */
  crash(at: number, losses: Losses): Tree {
    const safeTo = new Map(this.#nodes.map((node) => [node, findSafeEnd(node, at)]));
    const isSafe = (change: Span, nodes: readonly Node[]): boolean =>
      nodes.every((node) => change.end <= (safeTo.get(node) ?? -Infinity));
    const journaled = this.#cutJournal(at, losses, isSafe);
    const keepsName = (change: NameChange): boolean => (losses.model === 'ordered'
      ? journaled.has(change.id)
      : isSafe(change, change.edits.map(({ folder }) => folder)) || losses.keepsName(change));
    const names = new Map(this.#nodes.map((node) => [node, new Map<string, Node>()]));
    const kept = this.#nameChanges.filter((change) => change.begin < at && keepsName(change));
    for (const edit of [...this.#initialNames, ...kept.flatMap(({ edits }) => edits)]) {
      if (edit.node) names.get(edit.folder)?.set(edit.name, edit.node);
      else names.get(edit.folder)?.delete(edit.name);
    }
    const readFile = (node: Node): Buffer => {
      const isKept = (change: DataChange): boolean => isSafe(change, [node]);
      const keepsSize = (change: DataChange): boolean => (losses.model === 'ordered'
        ? journaled.has(change.id) : losses.keepsSize(change));
      return readNode(node, at, isKept, keepsSize, losses);
    };
    return listTree(this.#root, this.#rootNode, names, readFile);
  }

  /** The changes of the journal that survive. */
  #cutJournal(
    at: number, losses: Losses, isSafe: (change: Span, nodes: readonly Node[]) => boolean,
  ): ReadonlySet<number> {
    const all = this.#journal.filter(({ begin }) => begin < at);
    const safe = all.findLastIndex((change) => change.nodes.some((node) => isSafe(change, [node])));
    const end = losses.model === 'ordered' ? losses.pickJournalEnd(safe + 1, all.length) : 0;
    return new Set(all.slice(0, end).map(({ id }) => id));
  }

  #write(span: Span, node: Node, offset: number, data: Buffer): void {
    const change = { id: this.#nextId(), begin: span.begin, end: span.end, offset, data };
    node.changes.push(change);
    const size = this.#sizes.get(node) ?? 0;
    if (offset + data.length <= size) return;
    this.#sizes.set(node, offset + data.length);
    this.#journal.push({ ...change, nodes: [node] });
  }

  #resize({ begin, end }: Span, node: Node, size: number): void {
    const change = { id: this.#nextId(), begin, end, offset: size, data: undefined };
    node.changes.push(change);
    this.#sizes.set(node, size);
    this.#journal.push({ ...change, nodes: [node] });
  }

  #name({ begin, end }: Span, named: readonly (readonly [string, Node | undefined])[]): void {
    const id = this.#nextId();
    const edits = named.map(([path, node]) =>
      ({ folder: this.#find(dirname(path)), name: basename(path), node }));
    const lost = named.flatMap(([path, node]) => (node ? [] : [this.#find(path)]));
    const gained = named.flatMap(([, node]) => node ?? []);
    const folders = edits.map(({ folder }) => folder);
    this.#nameChanges.push({ id, begin, end, edits });
    this.#journal.push({ id, begin, end, nodes: [...folders, ...lost, ...gained] });
    for (const [path, node] of named) {
      if (node) this.#live.set(path, node);
      else this.#live.delete(path);
    }
  }

  #add(isFolder: boolean, initial?: Buffer): Node {
    const node = makeNode(isFolder, initial);
    this.#nodes.push(node);
    this.#sizes.set(node, node.initial.length);
    return node;
  }

  #find(path: string): Node {
    const node = this.#live.get(path);
    if (!node) throw new Error(`The recording does not say how ${path} came to be.`);
    return node;
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}

function makeNode(isFolder: boolean, initial: Buffer = Buffer.alloc(0)): Node {
  return { isFolder, initial, changes: [], syncs: [] };
}

/** What returned before this is safe: the last `fsync` that had returned was called then. */
function findSafeEnd({ syncs }: Node, at: number): number {
  return Math.max(-Infinity, ...syncs.filter(({ end }) => end <= at).map(({ begin }) => begin));
}

function readNode(
  node: Node, at: number, isSafe: (change: DataChange) => boolean,
  keepsSize: (change: DataChange) => boolean, losses: Losses,
): Buffer {
  const issued = node.changes.filter(({ begin }) => begin < at);
  const pending = issued.findIndex((change) => !isSafe(change));
  const safe = pending < 0 ? issued : issued.slice(0, pending);
  const onDisk = new FileImage(node.initial);
  for (const { offset, data } of safe) {
    if (data) onDisk.write(offset, data);
    else onDisk.resize(offset);
  }
  if (pending < 0) return onDisk.read();
  const inMemory = new FileImage(onDisk.read());
  for (const change of issued.slice(pending)) {
    const { offset, data } = change;
    if (!data) {
      inMemory.resize(offset);
      if (isSafe(change) || keepsSize(change)) onDisk.resize(offset);
      continue;
    }
    inMemory.write(offset, data);
    const last = Math.ceil((offset + data.length) / SECTOR_BYTES);
    for (let sector = Math.floor(offset / SECTOR_BYTES); sector < last; sector += 1) {
      const isKept = isSafe(change) || losses.keepsSector(change, sector);
      if (isKept) onDisk.copySector(inMemory, sector);
    }
    // POSIX does not say that a size comes after the bytes: where these are lost there are zeros.
    if (losses.model === 'strict' && losses.keepsSize(change)) onDisk.extend(offset + data.length);
  }
  return onDisk.read();
}

/** The files and folders that can be reached from the root. */
function listTree(
  path: string, folder: Node, names: ReadonlyMap<Node, ReadonlyMap<string, Node>>,
  readFile: (node: Node) => Buffer,
): Map<string, Buffer | undefined> {
  const tree = new Map<string, Buffer | undefined>();
  for (const [name, node] of names.get(folder) ?? []) {
    const inner = `${path}/${name}`;
    tree.set(inner, node.isFolder ? undefined : readFile(node));
    if (!node.isFolder) continue;
    for (const [below, bytes] of listTree(inner, node, names, readFile)) tree.set(below, bytes);
  }
  return tree;
}
