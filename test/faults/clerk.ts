/**
 * A client that works on its own products, one operation at a time, and records each request and
 * its response. The record defines what must exist after a crash: every acknowledged change, and an
 * unacknowledged one wholly or not at all.
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
interface Operation {
  readonly request: Request;
  readonly after: ReadonlyMap<string, Item | undefined>;
}

/** The connection to the server, whose port changes with each start. */
export interface Connection {
  readonly port: number;
  readonly key: string;
  readonly agent: Agent;
}

export class Clerk {
  /** The existing products by SKU, according to the responses. */
  readonly items = new Map<string, Item>();
  readonly #name: string;
  readonly #random: Random;
  readonly #importsToo: boolean;
  readonly #answered: { readonly operation: Operation; readonly text: string }[] = [];
  #pending: Operation | undefined;
  /** Whether every response has said that the pending operation is not done. */
  #isUndone = true;
  #operations = 0;
  /** Unacknowledged operations that were found to be done, and not done. */
  readonly found = { done: 0, undone: 0 };

  /** At most three clerks of a seller may import: a server rejects more concurrent imports. */
  constructor(name: string, random: Random, importsToo: boolean) {
    this.#name = name;
    this.#random = random;
    this.#importsToo = importsToo;
  }

  /** Sends one operation, or sends the pending one again, which the server could not do. */
  async work(connection: Connection): Promise<'done' | 'broken' | { readonly rejected: number }> {
    const operation = this.#pending ?? this.#choose();
    this.#pending = operation;
    const answer = await this.#send(connection, operation).catch(() => undefined);
    if (!answer) {
      this.#isUndone = false;
      return 'broken';
    }
    const rejected = this.#findRejection(answer);
    if (rejected !== undefined) return { rejected };
    this.#note(operation, answer);
    return 'done';
  }

  /** Asserts that the pending operation was done wholly or not at all; retries it and others. */
  async settle(connection: Connection): Promise<void> {
    for (const { operation, text } of this.#answered) {
      const again = await this.#send(connection, operation);
      assert.equal(again.headers['idempotent-replay'], 'true', operation.request.path);
      assert.equal(again.text, text);
    }
    const operation = this.#pending;
    if (!operation) return;
    const skus = [...operation.after.keys()];
    const there = await Promise.all(skus.map((sku) => this.#look(connection, sku)));
    const before = skus.map((sku) => this.items.get(sku));
    const after = [...operation.after.values()];
    const isDone = isSame(there, after);
    if (!isSame(before, after) && this.#isUndone) assert.ok(!isDone, 'done, although rejected');
    if (!isDone) assert.deepEqual(there, before, `half done: ${JSON.stringify(operation.request)}`);
    const answer = await this.#send(connection, operation);
    if (!isSame(before, after)) {
      assert.equal(answer.headers['idempotent-replay'], isDone ? 'true' : undefined);
      this.found[isDone ? 'done' : 'undone'] += 1;
    }
    this.#note(operation, answer);
  }

  async #look(connection: Connection, sku: string): Promise<Item | undefined> {
    const answer = await this.#send(connection, { request: { path: `${PRODUCTS}/sku/${sku}` } });
    if (answer.status === 404) return undefined;
    assert.equal(answer.status, 200, answer.text);
    const { name, price, stock } = answer.json();
    return { name, price, stock };
  }

  #send(
    { port, key, agent }: Connection, { request }: Pick<Operation, 'request'>,
  ): Promise<Answer> {
    return send(port, { ...request, agent, headers: { ...request.headers, 'x-api-key': key } });
  }

  /** A rejection says when to retry, and whether anything may have been changed. */
  #findRejection({ status, text, headers, json }: Answer): number | undefined {
    const [, late] = /^\{"problem":\{.*"status":(50[37])/m.exec(text) ?? [];
    if (late !== undefined) { // an import that had begun: its summary says what was done
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

  #note(operation: Operation, answer: Answer): void {
    const { status, text } = answer;
    assert.ok(status >= 200 && status < 300,
      `${status}: ${text} ${JSON.stringify(operation.request)}`);
    // Imports and stock changes report each row.
    assert.doesNotMatch(text, /"failed":[1-9]|"problem"/);
    this.#pending = undefined;
    this.#isUndone = true;
    for (const [sku, item] of operation.after) {
      if (item) this.items.set(sku, item);
      else this.items.delete(sku);
    }
    this.#answered.push({ operation, text });
    if (this.#answered.length > REMEMBERED) this.#answered.shift();
  }

  #choose(): Operation {
    this.#operations += 1;
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
    const name = `Mug ${this.#name} ${this.#operations} “ü”`;
    return { name, price: this.#random.below(10_000) / 100, stock: 1_000_000 };
  }

  #pickSku(): string {
    return `${this.#name}-${this.#random.below(SKUS)}`;
  }

  #headers(type = 'application/json') {
    return { 'content-type': type, 'idempotency-key': `${this.#name}-${this.#operations}` };
  }

  /** One change of one product. */
  #ask(
    method: string, path: string, { sku, ...item }: Partial<Item> & { readonly sku: string },
    what: 'create' | 'put' | 'patch' | 'delete',
  ): Operation {
    const content = { category: 'Kitchen', ...item };
    const body = {
      create: JSON.stringify({ ...content, sku }), put: JSON.stringify(content),
      patch: JSON.stringify({ price: item.price }), delete: '',
    }[what];
    const { 'content-type': type, ...key } = this.#headers(
      what === 'patch' ? 'application/merge-patch+json' : undefined);
    const headers = what === 'delete' ? key : { 'content-type': type, ...key };
    // The cast: all calls except deletions pass a whole item.
    const after = what === 'delete' ? undefined : item as Item;
    const request = { method, path, headers, ...(what !== 'delete' && { body }) };
    return { request, after: new Map([[sku, after]]) };
  }

  #import(): Operation {
    const skus = new Set(countTo(1 + this.#random.below(25)).map(() => this.#pickSku()));
    const after = new Map([...skus].map((sku) => [sku, this.#make()]));
    const lines = [...after].map(([sku, item]) =>
      JSON.stringify({ ...item, sku, category: 'Kitchen' }));
    return { after, request: {
      method: 'POST', path: `${PRODUCTS}/import`, body: lines.join('\n'),
      headers: this.#headers('application/x-ndjson'),
    } };
  }

  #adjust(): Operation {
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
