/** What stores execute, and which parameters of each statement are the caller's seller. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Store } from '../../../src/store/store.ts';

/** The sellers of one call of the store. */
export interface Caller {
  readonly sellers: Set<unknown>;
  /**
   * Whether the call names no seller: it looks one up by a secret or an address, creates one, or
   * does its work for each. Then it is the caller of every seller whose row it has read. Seller 0
   * has no rows but the server's own audit log.
   */
  readonly isLearning: boolean;
}

/** The parameters of one execution that were the caller's seller: `:name`, `$1` or `?1`. */
export interface Execution {
  readonly text: string;
  readonly sellerParameters: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

/** Their rows are sellers. */
const OF_SELLERS = /^\s*(?:INSERT INTO|SELECT [\w\s,]+\sFROM) seller\b/;
const callers = new AsyncLocalStorage<Caller>();
const activeCallers = new Set<Caller>();

/**
 * A store whose calls can be told apart: each names its sellers by its arguments. What a call
 * returns, such as an iterator or a dry run, continues it.
 */
export function nameCallers(store: Store): Store {
  // The argument of the methods that prune is a time.
  return inCalls(store, (values, name) => findCaller(/^prune/.test(name) ? [] : values, [name]));
}

function inCalls<Target extends object>(
  target: Target, callerOf: (values: readonly unknown[], method: string) => Caller,
): Target {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name);
      if (isWorking(value)) return inCalls(value, callerOf);
      if (typeof value !== 'function') return value;
      return (...values: readonly unknown[]) => {
        const caller = callerOf(values, String(name));
        const proceed = (result: unknown): unknown =>
          (isWorking(result) ? inCalls(result, () => caller) : result);
        activeCallers.add(caller);
        const end = (): boolean => activeCallers.delete(caller);
        const result: unknown = callers.run(caller, () => Reflect.apply(value, target, values));
        if (result instanceof Promise) return result.finally(end).then(proceed);
        end();
        return proceed(result);
      };
    },
  });
}

/** Whether a value works when it is used, unlike data. */
function isWorking(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value) || ArrayBuffer.isView(value) || value instanceof Map) return false;
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  return !isPlain || Object.values(value).some((member) => typeof member === 'function');
}

export function currentCaller(): Caller | undefined {
  return callers.getStore();
}

/** All calls that have not ended, as one: for an engine that does the work of several together. */
export function unionOfCallers(): Caller {
  const sellers = new Set([...activeCallers].flatMap((caller) => [...caller.sellers]));
  return { sellers, isLearning: false };
}

/**
 * By the first argument, if it is a number, and every `sellerId` within the arguments. Only a
 * deletion of a seller is noted in the audit log of the server.
 */
export function findCaller(values: readonly unknown[], methods: readonly string[]): Caller {
  const [first] = values;
  const sellers = new Set<unknown>(typeof first === 'number' ? [first] : []);
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth === 0) return;
    for (const [name, member] of Object.entries(value)) {
      if (name === 'sellerId' && typeof member === 'number') sellers.add(member);
      visit(member, depth - 1);
    }
  };
  visit(values, 4);
  const isLearning = sellers.size === 0;
  if (isLearning || methods.includes('deleteSeller')) sellers.add(0);
  return { sellers, isLearning };
}

/** Learns the sellers of the rows that a statement returned, if its caller does. */
export function learnSellers(
  { text, rows }: { readonly text: string; readonly rows: readonly Row[] },
  caller: Caller | undefined,
): void {
  if (!caller?.isLearning) return;
  for (const row of rows) {
    caller.sellers.add(row['seller_id'] ?? row['sellerId']);
    if (OF_SELLERS.test(text)) caller.sellers.add(row['id']);
  }
}

export function describeExecution(
  text: string, values: Row, caller: Caller | undefined,
): Execution {
  const sellerParameters = Object.keys(values).filter((name) =>
    values[name] !== undefined && caller?.sellers.has(values[name]));
  return { text, sellerParameters };
}

/** Statements by text, with the parameters that were the caller's seller in every execution. */
export class StatementLog {
  readonly #parameters = new Map<string, ReadonlySet<string>>();

  add({ text, sellerParameters }: Execution): void {
    const line = text.trim().replaceAll(/\s+/g, ' ');
    const parameters = new Set(sellerParameters);
    this.#parameters.set(line, this.#parameters.get(line)?.intersection(parameters) ?? parameters);
  }

  list(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#parameters;
  }
}

/** Notes a statement on PostgreSQL; returns what takes its result. */
export function observeStatement(
  log: StatementLog,
  { text, values }: { readonly text: string; readonly values: readonly unknown[] },
): (result: { readonly rows: readonly Row[] }) => void {
  // Cleanups between tests empty whole tables.
  if (/^DELETE FROM \w+$/.test(text)) return () => {};
  const named = Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
  // The calls of an instant share a transaction, which none of them executes.
  log.add(describeExecution(text, named, unionOfCallers()));
  const caller = currentCaller();
  return ({ rows }) => learnSellers({ text, rows }, caller);
}
