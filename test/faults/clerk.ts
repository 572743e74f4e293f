/**
 * A client that works on its own products, one operation at a time, and records each request and
 * its response. The record tells what must exist after a crash: every acknowledged change, and of
 * an unacknowledged one, all or nothing.
 */
import assert from 'node:assert/strict';
import type { Agent } from 'node:http';
import type { Random } from '../domain/random.ts';
import { countTo } from '../store/contract/fixture.ts';
import { type Answer, type Request, send } from '../support/http.ts';

const PRODUCTS = '/api/v1/products';
const SKUS = 60;
const REMEMBERED = 8;
/** How a rejection says that nothing was changed. */
const UNDONE = /Nothing was changed|is stopping|the maximum\. Retry|cannot read from its disk/;

export interface Item {
  readonly name: string;
  readonly price: number;
  readonly stock: number;
}

/** A request, and its effect on products. */
interface Deed {
  readonly request: Request;
  readonly after: ReadonlyMap<string, Item | undefined>;
}

/** How the clerk reaches the server, whose port changes with each start. */
export interface Way {
  readonly port: number;
  readonly key: string;
  readonly agent: Agent;
}

export class Clerk {
  /** By SKU: what is there, as far as was answered. */
  readonly items = new Map<string, Item>();
  readonly #name: string;
  readonly #random: Random;
  readonly #importsToo: boolean;
  readonly #answered: { readonly deed: Deed; readonly text: string }[] = [];
  #pending: Deed | undefined;
  /** Whether the server has said, whenever it was asked, that the pending deed is not done. */
  #isUndone = true;
  #deeds = 0;
  /** Deeds that were not answered and were found to be done, and not to be done. */
  readonly found = { done: 0, undone: 0 };

  /** No more than three of a seller may import: a server refuses more at once. */
  constructor(name: string, random: Random, importsToo: boolean) {
    this.#name = name;
    this.#random = random;
    this.#importsToo = importsToo;
  }

  /** Does one thing, or once more asks for what was refused as the server could not do it. */
  async work(way: Way): Promise<'done' | 'broken' | { readonly refused: number }> {
    const deed = this.#pending ?? this.#choose();
    this.#pending = deed;
    const answer = await this.#send(way, deed).catch(() => undefined);
    if (!answer) {
      this.#isUndone = false;
      return 'broken';
    }
    const refused = this.#findRefusal(answer);
    if (refused !== undefined) return { refused };
    this.#note(deed, answer);
    return 'done';
  }

  /** Finds what became of the last deed, all or nothing, and asks for it and for others again. */
  async settle(way: Way): Promise<void> {
    for (const { deed, text } of this.#answered) {
      const again = await this.#send(way, deed);
      assert.equal(again.headers['idempotent-replay'], 'true', deed.request.path);
      assert.equal(again.text, text);
    }
    const deed = this.#pending;
    if (!deed) return;
    const skus = [...deed.after.keys()];
    const there = await Promise.all(skus.map((sku) => this.#look(way, sku)));
    const before = skus.map((sku) => this.items.get(sku));
    const after = [...deed.after.values()];
    const isDone = isSame(there, after);
    if (!isSame(before, after) && this.#isUndone) assert.ok(!isDone, 'done, though it was refused');
    if (!isDone) assert.deepEqual(there, before, `half done: ${JSON.stringify(deed.request)}`);
    const answer = await this.#send(way, deed);
    if (!isSame(before, after)) {
      assert.equal(answer.headers['idempotent-replay'], isDone ? 'true' : undefined);
      this.found[isDone ? 'done' : 'undone'] += 1;
    }
    this.#note(deed, answer);
  }

  async #look(way: Way, sku: string): Promise<Item | undefined> {
    const answer = await this.#send(way, { request: { path: `${PRODUCTS}/sku/${sku}` } });
    if (answer.status === 404) return undefined;
    assert.equal(answer.status, 200, answer.text);
    const { name, price, stock } = answer.json();
    return { name, price, stock };
  }

  #send({ port, key, agent }: Way, { request }: Pick<Deed, 'request'>): Promise<Answer> {
    return send(port, { ...request, agent, headers: { ...request.headers, 'x-api-key': key } });
  }

  /** A refusal says when to come again, and whether anything may have been done. */
  #findRefusal({ status, text, headers, json }: Answer): number | undefined {
    const [, late] = /^\{"problem":\{.*"status":(50[37])/m.exec(text) ?? [];
    if (late !== undefined) { // of an import that had begun: its summary says what was done
      this.#isUndone = false;
      return Number(late);
    }
    if (status !== 503 && status !== 507) return undefined;
    assert.ok(Number(headers['retry-after']) > 0, text);
    const { detail } = json();
    const isUndone = UNDONE.test(detail);
    if (!isUndone) assert.match(detail, /the outcome is unknown/);
    this.#isUndone &&= isUndone;
    return status;
  }

  #note(deed: Deed, answer: Answer): void {
    const { status, text } = answer;
    assert.ok(status >= 200 && status < 300, `${status}: ${text} ${JSON.stringify(deed.request)}`);
    // Imports and stock changes report each row.
    assert.doesNotMatch(text, /"failed":[1-9]|"problem"/);
    this.#pending = undefined;
    this.#isUndone = true;
    for (const [sku, item] of deed.after) {
      if (item) this.items.set(sku, item);
      else this.items.delete(sku);
    }
    this.#answered.push({ deed, text });
    if (this.#answered.length > REMEMBERED) this.#answered.shift();
  }

  #choose(): Deed {
    this.#deeds += 1;
    const sku = this.#pickSku();
    const item = this.items.get(sku);
    if (!item) {
      return this.#importsToo && this.#random.below(3) === 0 ? this.#import()
        : this.#ask('POST', PRODUCTS, { ...this.#make(), sku }, 'create');
    }
    switch (this.#random.below(8)) {
      case 0: return this.#ask('DELETE', `${PRODUCTS}/sku/${sku}`, { sku }, 'delete');
      case 1: return this.#ask('PUT', `${PRODUCTS}/sku/${sku}`, { ...this.#make(), sku }, 'put');
      case 2: case 3: {
        const { price } = this.#make();
        return this.#ask('PATCH', `${PRODUCTS}/sku/${sku}`, { ...item, price, sku }, 'patch');
      }
      case 4: return this.#importsToo ? this.#import() : this.#adjust();
      default: return this.#adjust();
    }
  }

  #make(): Item {
    const name = `Mug ${this.#name} ${this.#deeds} “ü”`;
    return { name, price: this.#random.below(10_000) / 100, stock: 1_000_000 };
  }

  #pickSku(): string {
    return `${this.#name}-${this.#random.below(SKUS)}`;
  }

  #headers(type = 'application/json') {
    return { 'content-type': type, 'idempotency-key': `${this.#name}-${this.#deeds}` };
  }

  /** One change of one product. */
  #ask(
    method: string, path: string, { sku, ...item }: Partial<Item> & { readonly sku: string },
    what: 'create' | 'put' | 'patch' | 'delete',
  ): Deed {
    const content = { category: 'Kitchen', ...item };
    const body = {
      create: JSON.stringify({ ...content, sku }), put: JSON.stringify(content),
      patch: JSON.stringify({ price: item.price }), delete: '',
    }[what];
    const { 'content-type': type, ...key } = this.#headers(
      what === 'patch' ? 'application/merge-patch+json' : undefined);
    const headers = what === 'delete' ? key : { 'content-type': type, ...key };
    // The cast: all but a deletion are given a whole item.
    const after = what === 'delete' ? undefined : item as Item;
    const request = { method, path, headers, ...(what !== 'delete' && { body }) };
    return { request, after: new Map([[sku, after]]) };
  }

  #import(): Deed {
    const skus = new Set(countTo(1 + this.#random.below(25)).map(() => this.#pickSku()));
    const after = new Map([...skus].map((sku) => [sku, this.#make()]));
    const lines = [...after].map(([sku, item]) =>
      JSON.stringify({ ...item, sku, category: 'Kitchen' }));
    return { after, request: {
      method: 'POST', path: `${PRODUCTS}/import`, body: lines.join('\n'),
      headers: this.#headers('application/x-ndjson'),
    } };
  }

  #adjust(): Deed {
    const after = new Map<string, Item>();
    const changes = countTo(1 + this.#random.below(20)).map(() => {
      const sku = this.#random.pick([...this.items.keys()]);
      const adjust = this.#random.pick([-3, -2, -1, 1, 2, 5]);
      const item = after.get(sku) ?? this.items.get(sku) ?? assert.fail();
      after.set(sku, { ...item, stock: item.stock + adjust });
      return { sku, adjust };
    });
    const body = JSON.stringify({ changes, atomic: this.#random.below(2) === 0 });
    const path = '/api/v1/stock';
    return { after, request: { method: 'POST', path, body, headers: this.#headers() } };
  }
}

function isSame(
  one: readonly (Item | undefined)[], other: readonly (Item | undefined)[],
): boolean {
  return JSON.stringify(one.map((item) => item ?? null))
    === JSON.stringify(other.map((item) => item ?? null));
}
