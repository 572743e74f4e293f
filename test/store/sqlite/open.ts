/** Opens a store that is closed after the test: an open one would keep the process alive. */
import type { TestContext } from 'node:test';
import { deriveAuditKey } from '../../../src/store/rules/audit.ts';
import { ServerKey } from '../../../src/store/rules/server-key.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import type { Store } from '../../../src/store/store.ts';

/** For mutations that a test runs on its own connection. */
export const AUDIT_KEY = deriveAuditKey(new ServerKey(Buffer.alloc(32, 7)));

export async function openStore(
  t: TestContext, options: Parameters<typeof openSqliteStore>[0],
): Promise<Store> {
  const store = await openSqliteStore(options);
  t.after(() => store.close());
  return store;
}
