/**
 * Records a real run: servers and commands under strace, and clients that record their answers. The
 * log of the calls has the time of each answer, which shows what a client may have seen before any
 * cut. Each recording is verified to be complete: played without losses, it reproduces the folder
 * byte for byte.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeFolder } from '../../support/folder.ts';
import type { Claim, Receipt } from './claim.ts';
import { Client } from './client.ts';
import { NO_LOSS } from './crash-states.ts';
import { Disk, type Tree } from './disk-model.ts';
import type { FileOperation, Operation, Sent, Span } from './operation.ts';
import { readStraceLog, STRACE_OPTIONS } from './strace-log.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');

export interface Recording {
  readonly root: string;
  readonly initial: Tree;
  readonly disk: Disk;
  readonly operations: readonly FileOperation[];
  readonly receipts: readonly Receipt[];
}

/** The conditions under which a process runs. */
export interface Conditions {
  readonly environment?: NodeJS.ProcessEnv;
  /** Faults that strace injects into its calls, in the syntax of strace. */
  readonly inject?: string;
}

/** Reads from a text the claims that have to stay true. */
type ReadClaims = (text: string) => readonly Claim[];

interface Traced {
  readonly log: string;
  readonly id: number;
  /** What holds once this process writes to standard output. */
  claims: readonly Claim[];
}

export class Recorder {
  readonly root: string;
  readonly #t: TestContext;
  readonly #initial: Tree;
  readonly #logs: string;
  readonly #traced: Traced[] = [];
  readonly #clients: Client[] = [];
  readonly #readers: { readonly isIt: (sent: Sent) => boolean; readonly read: ReadClaims }[] = [];

  /** The content of `root` counts as safe. No other process may write there. */
  constructor(t: TestContext, root: string) {
    this.#t = t;
    this.root = root;
    this.#initial = readTree(root);
    this.#logs = makeFolder(t);
  }

  /** Starts `seller-api` with these arguments. */
  start(args: readonly string[], { environment, inject }: Conditions = {}): ChildProcess {
    const log = join(this.#logs, String(this.#traced.length));
    const child = spawn('strace', [
      '-D', ...STRACE_OPTIONS, ...inject === undefined ? [] : ['-e', `inject=${inject}`],
      '-o', log, process.execPath, MAIN, ...args,
    ], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Otherwise a server replaces its own process, and writes a cache beside the source.
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1', ...environment },
    });
    assert.ok(child.pid !== undefined); // with -D, that of the traced process itself
    this.#traced.push({ log, id: child.pid, claims: [] });
    this.#t.after(() => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    });
    return child;
  }

  /** Runs a command, which has to succeed; claims are read from its output. */
  async run(
    args: readonly string[], claim: ReadClaims = () => [], conditions: Conditions = {},
  ): Promise<string> {
    const child = this.start(args, conditions);
    const traced = this.#traced.at(-1);
    let [out, notes] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => { out += text; });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => { notes += text; });
    const [status] = await once(child, 'close') as [number | null];
    assert.equal(status, 0, notes);
    if (traced) traced.claims = claim(out);
    return out;
  }

  /** A client of a server that was started here: one request after the other. */
  connect(port: number, key: string): Client {
    const client = new Client(port, key);
    this.#clients.push(client);
    this.#t.after(() => client.close());
    return client;
  }

  /** Reads claims from what the recorded processes send to this port. */
  claimMessages(port: number, read: ReadClaims): void {
    this.#readers.push({ isIt: ({ peer }) => peer.endsWith(`->127.0.0.1:${port}]`), read });
  }

  /** Reads claims from what they write to standard error. */
  claimNotes(read: ReadClaims): void {
    this.#readers.push({ isIt: ({ fd }) => fd === 2, read });
  }

  /** Once all processes have ended. */
  async finish(): Promise<Recording> {
    const receipts: Receipt[] = [];
    const all: Operation[] = [];
    const isInside = (path: string): boolean => // SQLite recreates its shared memory
      (path === this.root || path.startsWith(`${this.root}/`)) && !path.endsWith('-shm');
    for (const { log, id, claims } of this.#traced) {
      await waitForEnd(log, id);
      const operations = await readStraceLog(log, isInside);
      all.push(...operations);
      const said = operations.find((one) => one.kind === 'sent' && one.fd === 1);
      if (claims.length > 0) assert.ok(said, 'a command has no output');
      receipts.push(...claims.map((claim) => ({ ...claim, at: said?.begin ?? 0 })));
    }
    all.sort((one, other) => one.begin - other.begin);
    const sent = all.filter((one): one is Sent & Span => one.kind === 'sent');
    for (const client of this.#clients) receipts.push(...client.placeReceipts(sent));
    for (const { isIt, read } of this.#readers) {
      receipts.push(...sent.filter(isIt).flatMap(({ data, begin }) =>
        read(data.toString()).map((claim) => ({ ...claim, at: begin }))));
    }
    const operations = all.filter((one): one is FileOperation & Operation => one.kind !== 'sent');
    const recorded = { root: this.root, initial: this.#initial, operations, receipts };
    const recording = makeRecording(recorded);
    assertSame(recording.disk.crash(Infinity, NO_LOSS), readTree(this.root));
    return recording;
  }
}

/** The same run as if the program had never synced this file or folder. */
export function ignoreSyncs(recording: Recording, path: string): Recording {
  const operations = recording.operations.filter((one) => one.kind !== 'sync' || one.path !== path);
  assert.ok(operations.length < recording.operations.length, `${path} was never synced`);
  return makeRecording({ ...recording, operations });
}

/** The same run, cut off before this time. */
export function endAt(recording: Recording, time: number): Recording {
  return makeRecording({
    ...recording,
    operations: recording.operations.filter(({ begin }) => begin < time),
    receipts: recording.receipts.filter(({ at }) => at < time),
  });
}

/** The same run as if another program had just written this file, without flushing it. */
export function writeUnsynced(recording: Recording, path: string, data: Buffer): Recording {
  const first = Math.min(...recording.operations.map(({ begin }) => begin));
  const initial = new Map(recording.initial);
  assert.ok(initial.delete(path), `${path} did not exist`);
  const written: FileOperation[] = [
    { kind: 'open', path, isTruncating: false, begin: first - 4, end: first - 3 },
    { kind: 'write', path, offset: 0, data, begin: first - 2, end: first - 1 },
  ];
  return makeRecording({
    ...recording, initial, operations: [...written, ...recording.operations],
  });
}

function makeRecording(recorded: Omit<Recording, 'disk'>): Recording {
  const disk = new Disk(recorded.root, recorded.initial);
  for (const operation of recorded.operations) disk.apply(operation);
  return { ...recorded, disk };
}

/** All files below, except the shared memory of SQLite. */
export function readTree(root: string): Map<string, Buffer | undefined> {
  const tree = new Map<string, Buffer | undefined>();
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    if (entry.name.endsWith('-shm')) continue;
    tree.set(path, entry.isDirectory() ? undefined : readFileSync(path));
    if (!entry.isDirectory()) continue;
    for (const [below, bytes] of readTree(path)) tree.set(below, bytes);
  }
  return tree;
}

const INCOMPLETE = 'The recording is incomplete';

function assertSame(played: Tree, found: Tree): void {
  assert.deepEqual([...played.keys()].sort(), [...found.keys()].sort(), INCOMPLETE);
  for (const [path, bytes] of found) {
    const isSame = bytes === undefined || played.get(path)?.equals(bytes);
    assert.ok(isSame, `${INCOMPLETE}: ${path} has other bytes`);
  }
}

/** strace continues to write for a moment after the traced process has ended. */
async function waitForEnd(log: string, id: number): Promise<void> {
  const end = new RegExp(`^${id} .*\\+\\+\\+ (?:exited|killed)`, 'm');
  while (!end.test(readEnd(log))) await wait(5);
}

function readEnd(log: string): string {
  const end = Buffer.alloc(4096);
  const handle = openSync(log, 'r');
  const read = readSync(handle, end, 0, end.length, Math.max(0, statSync(log).size - end.length));
  closeSync(handle);
  return end.toString('latin1', 0, read);
}
