/** Records what this process sends to PostgreSQL. */
import { Connection } from '../../../src/store/postgres/wire/connection.ts';
import type { Result, Statement } from '../../../src/store/postgres/wire/statement-run.ts';

/** Called when statements are sent; returns what is called with each result. */
type Observe = (statement: Statement) => (result: Result) => void;

/**
 * Records until `restore` is called. Each statement has the values of its last execution. The mocks
 * of `node:test` would keep the result of every call, which takes memory and time.
 */
export function recordStatements(observe?: Observe) {
  const byText = new Map<string, Statement>();
  let roundTrips = 0;
  const { run } = Connection.prototype;
  Connection.prototype.run = function record(this: Connection, ...args) {
    roundTrips += 1;
    for (const statement of args[0]) byText.set(statement.text, statement);
    const results = run.apply(this, args);
    if (!observe) return results;
    const observers = args[0].map(observe);
    return results.then((list) => {
      list.forEach((result, index) => observers[index]?.(result));
      return list;
    });
  };
  return {
    /** The statements since the last call. */
    take(): readonly Statement[] {
      const taken = [...byText.values()];
      byText.clear();
      return taken;
    },
    countRoundTrips: () => roundTrips,
    restore() {
      Connection.prototype.run = run;
    },
  };
}
