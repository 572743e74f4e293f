/**
 * Records what stores execute on catalogues in SQLite: in the thread that calls `recordSqlite`, and
 * in the writer threads that start afterwards, which load this module before their own.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { isMainThread, parentPort, type Worker, type WorkerOptions } from 'node:worker_threads';
import {
  type Caller, currentCaller, describeExecution, type Execution, findCaller, learnSellers,
  StatementLog,
} from './statement-log.ts';

const METHODS = ['run', 'get', 'all', 'iterate'] as const;
const LOG_VARIABLE = 'SQLITE_STATEMENT_LOG';

if (!isMainThread) recordInThread();

/** Every thread appends its executions to `file`, one JSON text a line. */
export function recordSqlite(file: string) {
  const restoreStatements = patchStatements(file, currentCaller);
  const threads = createRequire(import.meta.url)('node:worker_threads') as {
    Worker: typeof Worker;
  };
  const original = threads.Worker;
  threads.Worker = class extends original {
    constructor(entry: string | URL, options: WorkerOptions = {}) {
      const isWriter = String(entry).includes('writer-thread');
      const added = isWriter ? ['--import', import.meta.url] : [];
      super(entry, { ...options, execArgv: [...options.execArgv ?? [], ...added] });
    }
  };
  syncBuiltinESMExports();
  process.env[LOG_VARIABLE] = file;
  return {
    read(): StatementLog {
      const log = new StatementLog();
      for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
        log.add(JSON.parse(line) as Execution);
      }
      return log;
    },
    restore(): void {
      restoreStatements();
      threads.Worker = original;
      syncBuiltinESMExports();
      delete process.env[LOG_VARIABLE];
    },
  };
}

/** In a writer thread: the callers are those of the batch that it runs. */
function recordInThread(): void {
  let caller: Caller | undefined;
  // The first listener: the thread adds its own, which runs the batch, later.
  parentPort?.on('message', (message: string) => {
    if (message === 'close') return;
    const { calls } = JSON.parse(message) as {
      readonly calls: readonly { readonly name: string; readonly input: unknown }[];
    };
    caller = findCaller(calls.flatMap(({ input }) => input), calls.map(({ name }) => name));
  });
  patchStatements(process.env[LOG_VARIABLE] ?? '', () => caller);
}

/** Returns a function that ends it. */
function patchStatements(file: string, findCurrent: () => Caller | undefined): () => void {
  const texts = new WeakMap<StatementSync, string>();
  const reported = new Set<string>();
  const note = (text: string, args: readonly unknown[], result: unknown): void => {
    const caller = findCurrent();
    const line = `${JSON.stringify(describeExecution(text, readValues(args), caller))}\n`;
    const rows = (Array.isArray(result) ? result : [result ?? {}]) as readonly Row[];
    learnSellers({ text, rows }, caller);
    if (!reported.has(line)) appendFileSync(file, line);
    reported.add(line);
  };
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function record(this: DatabaseSync, ...args) {
    const statement = prepare.apply(this, args);
    // Neither temporary databases nor the search projection, where a seller is a range of rows.
    if (basename(this.location() ?? '') === 'catalogue.db') texts.set(statement, args[0]);
    return statement;
  };
  const originals = METHODS.map((method) => {
    const value = StatementSync.prototype[method] as (...args: unknown[]) => unknown;
    Object.defineProperty(StatementSync.prototype, method, {
      configurable: true,
      value(this: StatementSync, ...args: unknown[]): unknown {
        const result = value.apply(this, args);
        const text = texts.get(this);
        if (text !== undefined) note(text, args, result);
        return result;
      },
    });
    return { method, value };
  });
  return () => {
    DatabaseSync.prototype.prepare = prepare;
    for (const { method, value } of originals) {
      Object.defineProperty(StatementSync.prototype, method, { configurable: true, value });
    }
  };
}

type Row = Readonly<Record<string, unknown>>;

/** `:name` for the members of an object, and `?1`, `?2` for the values beside it. */
function readValues(args: readonly unknown[]): Row {
  const [first] = args;
  const isNamed = typeof first === 'object' && first !== null && !ArrayBuffer.isView(first);
  const named = isNamed ? Object.entries(first).map(([name, value]) => [`:${name}`, value]) : [];
  const placed = (isNamed ? args.slice(1) : args).map((value, index) => [`?${index + 1}`, value]);
  return Object.fromEntries([...named, ...placed]) as Row;
}
