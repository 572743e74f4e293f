/**
 * Runs cases one by one, and checks after each: the response, the rows, the log and whether the
 * server is alive. A case depends only on the seed, its number and the responses before it, so a
 * seed repeats a run.
 */
import { makeRandom, type Random } from '../domain/random.ts';
import { makeApiCase } from './api-cases.ts';
import { listFindings } from '../support/health.ts';
import type { Answer } from '../support/http.ts';
import type { Case } from './case.ts';
import { assertResponse } from './assert-response.ts';
import { listPages, makePortalCase } from './portal-cases.ts';
import { exchange } from './wire.ts';
import { makeWireCase } from './wire-cases.ts';
import { makeWorld, type World } from './world.ts';

export interface Finding {
  readonly number: number;
  readonly what: string;
  readonly reproduction: string;
}

export interface Outcome {
  readonly cases: number;
  readonly findings: readonly Finding[];
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The requested routes, and whether any request to each succeeded. */
  readonly reached: ReadonlyMap<string, boolean>;
}

export interface Plan {
  readonly seed: number;
  /** Whether to run another case. */
  shouldContinue(cases: number): boolean;
}

const FINDINGS_LIMIT = 10;
/** Cases between two checks of the silent seller's rows. */
const SILENT_EVERY = 200;
/** Cases during which a portal import in the background may still change rows. */
const LAG_CASES = 30;

type Context = Parameters<typeof makeWorld>[0];

export async function runCases(t: Context, { seed, shouldContinue }: Plan): Promise<Outcome> {
  const world = await makeWorld(t);
  const run = new Run(world, seed);
  await run.warmUp();
  while (shouldContinue(run.number) && !run.isOver) await run.next();
  await run.finish();
  return run;
}

class Run implements Outcome {
  readonly #world: World;
  readonly #seed: number;
  readonly #silent: string;
  readonly findings: Finding[] = [];
  readonly statuses: Record<string, number> = {};
  readonly reached = new Map<string, boolean>();
  number = 0;
  #logged: number;
  #lagsUntil = 0;
  #hasEnded = false;

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#seed = seed;
    this.#silent = world.watch.digestSeller(world.silent.sellerId);
    this.#logged = world.log().length;
    world.serving.child.once('exit', () => { this.#hasEnded = true; });
  }

  get cases(): number {
    return this.number;
  }

  get isOver(): boolean {
    return this.#hasEnded || this.findings.length >= FINDINGS_LIMIT;
  }

  /** Requests every page, to collect links to follow and forms to fill in. */
  async warmUp(): Promise<void> {
    const { pool, session, serving } = this.#world;
    for (const path of listPages()) {
      const head = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: ${session.cookie}\r\n\r\n`;
      const { answers } = await exchange(serving.port, {
        bytes: Buffer.from(head), from: '127.0.0.1', isHead: false, until: 'answer',
      });
      for (const answer of answers) pool.harvest(answer);
    }
  }

  async next(): Promise<void> {
    this.number += 1;
    const random = makeRandom(this.#seed * 1_000_003 + this.number);
    const one = makeCase(random, this.#world);
    const failure = await this.#try(one);
    if (failure !== undefined) this.#note(one, failure);
    if (this.number % SILENT_EVERY === 0) this.#checkSilent(one);
  }

  async finish(): Promise<void> {
    const last: Case = {
      label: 'the end', bytes: Buffer.alloc(0), from: '', method: '', until: 'end', isPage: false,
    };
    this.#checkSilent(last);
    if (this.#hasEnded) return;
    const status = await this.#world.serving.stop('SIGTERM');
    if (status !== 0) this.#note(last, `the server stopped with ${status}`);
    const faults = listFindings(this.#world.folder).filter((text) => text.includes(' fault: '));
    if (faults.length > 0) this.#note(last, faults.join('\n'));
    this.#checkLog(last);
  }

  /** Sends the request, and returns the broken invariant, if any. */
  async #try(one: Case): Promise<string | undefined> {
    const { watch, pool } = this.#world;
    const before = watch.summarize();
    try {
      const answers = await this.#send(one);
      for (const answer of answers) {
        this.#count(one, answer.status);
        assertResponse(one, answer, this.#world);
        if (one.isPage || answer.status < 300) pool.harvest(answer);
      }
      await this.#checkRows(one, before, answers.map(({ status }) => status));
      for (const answer of answers) await this.#keepKey(one, answer);
      if (one.until !== 'answer') await this.#settle();
      if (this.#hasEnded) return 'the server has ended';
      if (one.isPage) await this.#keepSession(answers[0]);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#checkLog(one);
    }
  }

  async #send(one: Case) {
    const { port } = this.#world.serving;
    const isHead = one.method === 'HEAD';
    const { answers } = await exchange(port, { ...one, isHead });
    const isWhole = answers.length > 0 || one.until !== 'answer' || one.bytes.length === 0;
    if (!isWhole && !this.#hasEnded) throw new Error('the connection ended without an answer');
    return answers;
  }

  /** A rejected request changes nothing. */
  async #checkRows(one: Case, before: string, statuses: readonly number[]): Promise<void> {
    const { watch } = this.#world;
    const isRejected = statuses.length > 0 && statuses.every((status) => status >= 400);
    if (one.label.endsWith('/commit') && !isRejected) this.#lagsUntil = this.number + LAG_CASES;
    // Any other case may contain a request whose response was not awaited.
    if (!isRejected || one.until !== 'answer' || watch.summarize() === before) return;
    if (this.number > this.#lagsUntil) throw new Error('a rejected request changed rows');
    for (let again = 0; again < 3; again += 1) {
      const earlier = watch.summarize();
      const answers = await this.#send(one);
      if (answers.some(({ status }) => status < 400) || watch.summarize() === earlier) return;
    }
    throw new Error('a rejected request changes rows each time');
  }

  /**
   * Waits for the writes of requests whose responses were not awaited: the server commits writes in
   * the order in which they arrive, so they are committed once this one is answered.
   */
  async #settle(): Promise<void> {
    const { keys: [key], serving: { port } } = this.#world;
    const body = JSON.stringify({ name: 'a', category: 'b', price: this.number % 100, stock: 1 });
    const lines = ['PUT /api/v1/products/sku/settle HTTP/1.1', 'host: 127.0.0.1',
      `x-api-key: ${key}`, 'content-type: application/json', `content-length: ${body.length}`];
    const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
    await exchange(port, { bytes, from: '127.0.0.1', isHead: false, until: 'answer' });
  }

  #checkSilent(one: Case): void {
    const { watch, silent } = this.#world;
    if (watch.digestSeller(silent.sellerId) === this.#silent) return;
    this.#note(one, `rows of another seller changed within ${SILENT_EVERY} cases`);
  }

  /** Clients cause no log lines at this level. */
  #checkLog(one: Case): void {
    const added = this.#world.log().slice(this.#logged);
    this.#logged += added.length;
    const lines = added.split('\n').filter((line) => !/^(?:Stopp|$)/.test(line));
    if (lines.length > 0) this.#note(one, `logged: ${lines.join('\n')}`);
  }

  async #keepKey({ bytes }: Case, { status, text }: Answer): Promise<void> {
    const { keys: [whole], renewKey } = this.#world;
    if (status === 401 && text.includes('key-unknown') && bytes.includes(whole)) await renewKey();
  }

  async #keepSession(answer: Answer | undefined): Promise<void> {
    const isOut = answer?.headers.location?.startsWith('/portal/sign-in');
    if (isOut || answer?.status === 429) await this.#world.renewSession();
  }

  #count({ label, isPage }: Case, status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    const isGood = status < 400 || (isPage && status === 422);
    this.reached.set(label, isGood || this.reached.get(label) === true);
  }

  #note({ label, bytes }: Case, what: string): void {
    const text = bytes.length > 3_000 ? `${bytes.toString('latin1', 0, 3_000)}...`
      : bytes.toString('latin1');
    const reproduction = `${JSON.stringify(text)}\n  as hex: ${bytes.toString('hex', 0, 4_000)}`;
    this.findings.push({ number: this.number, what: `${label}: ${what}`, reproduction });
  }
}

function makeCase(random: Random, world: World): Case {
  const kind = random.below(10);
  if (kind < 5) return makeApiCase(random, world);
  return kind < 8 ? makePortalCase(random, world) : makeWireCase(random, world);
}
