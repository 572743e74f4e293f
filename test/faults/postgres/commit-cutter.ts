/**
 * A proxy in front of PostgreSQL that cuts connections at their COMMIT: before the server gets it,
 * or after some bytes of the response; or it delivers the whole transaction late, while the client
 * checks whether it was committed.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';

/** `after` is the number of response bytes that are passed on. */
type Cut = 'before' | 'late' | { readonly after: number };

/** A client may wait for the locks of a late transaction. */
const LATE_MS = 300;
/** A late transaction may wait for the locks of the transaction that checks for it. */
const LOOK_MS = 30;

export class CommitCutter {
  readonly #upstreamPort: number;
  readonly #sockets = new Set<Socket>();
  #armed: { readonly cut: Cut; readonly resolve: () => void } | undefined;
  /** Transactions that are delivered late, by their connection to the server. */
  readonly #late = new Map<Socket, Buffer>();

  private constructor(upstreamPort: number) {
    this.#upstreamPort = upstreamPort;
  }

  /** Resolves with a cutter and its port. */
  static async open(t: TestContext, upstreamPort: number) {
    const cutter = new CommitCutter(upstreamPort);
    const proxy = createServer((client) => cutter.#relay(client)).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    t.after(() => {
      for (const socket of cutter.#sockets) socket.destroy();
      proxy.close();
    });
    // A server that listens on a port has an address of this type.
    return { cutter, port: (proxy.address() as AddressInfo).port };
  }

  /** Cuts at the next COMMIT; resolves once it has. */
  cut(cut: Cut): Promise<void> {
    return new Promise((resolve) => { this.#armed = { cut, resolve }; });
  }

  #relay(client: Socket): void {
    const upstream = connect(this.#upstreamPort, '127.0.0.1');
    const statements = new StatementFinder();
    let left = Infinity;
    let onCut: (() => void) | undefined;
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
    }
    client.on('close', () => { if (!this.#late.has(upstream)) upstream.destroy(); });
    upstream.on('close', () => client.destroy());
    client.on('data', (chunk: Buffer) => {
      const at = statements.findCommit(chunk);
      const { cut, resolve } = at === undefined ? {} : this.#armed ?? {};
      if (cut !== undefined) this.#armed = undefined;
      if (typeof cut === 'object') {
        left = cut.after;
        onCut = resolve;
      }
      if (cut === 'late') this.#holdBack(upstream, chunk);
      else upstream.write(cut === 'before' ? chunk.subarray(0, at) : chunk);
      if (cut !== 'late' && cut !== 'before') return;
      client.destroy();
      resolve?.();
    });
    upstream.on('data', async (chunk: Buffer) => {
      if (client.destroyed) return;
      if (statements.takeLook() && this.#late.size > 0) {
        upstream.pause();
        this.#deliver();
        await wait(LOOK_MS);
        upstream.resume();
      }
      const passed = chunk.subarray(0, left);
      left -= passed.length;
      client.write(passed);
      if (left > 0) return;
      client.end(() => client.destroy());
      upstream.destroy();
      onCut?.();
    });
  }

  #holdBack(upstream: Socket, chunk: Buffer): void {
    this.#late.set(upstream, chunk);
    setTimeout(() => this.#deliver(), LATE_MS);
  }

  #deliver(): void {
    for (const [upstream, chunk] of this.#late) {
      this.#late.delete(upstream);
      upstream.end(chunk);
    }
  }
}

/** Parses the messages of a client, which may arrive in pieces. */
class StatementFinder {
  #hasLooked = false;
  #rest = Buffer.alloc(0);
  #isStarted = false;
  /** Names of prepared statements. */
  readonly #commits = new Set<string>();
  readonly #looks = new Set<string>();

  /** Whether it has just checked for a transaction with an unknown outcome. */
  takeLook(): boolean {
    const hasLooked = this.#hasLooked;
    this.#hasLooked = false;
    return hasLooked;
  }

  /** Where the message that executes COMMIT begins in this chunk, if it does. */
  findCommit(chunk: Buffer): number | undefined {
    const offset = this.#rest.length;
    const bytes = Buffer.concat([this.#rest, chunk]);
    let found: number | undefined;
    let at = 0;
    for (;;) {
      const head = this.#isStarted ? 1 : 0; // the first message has no type
      if (bytes.length < at + head + 4) break;
      const end = at + head + bytes.readInt32BE(at + head);
      if (bytes.length < end) break;
      const type = this.#isStarted ? String.fromCharCode(bytes[at] ?? 0) : '';
      const [one = '', two = ''] = bytes.toString('latin1', at + head + 4, end).split('\0');
      if (type === 'P' && two === 'COMMIT') this.#commits.add(one);
      if (type === 'P' && two.includes('batch = $3')) this.#looks.add(one);
      if (type === 'B' && this.#commits.has(two)) found ??= Math.max(0, at - offset);
      if (type === 'B') this.#hasLooked ||= this.#looks.has(two);
      this.#isStarted = true;
      at = end;
    }
    this.#rest = bytes.subarray(at);
    return found;
  }
}
