/** The property tests on PostgreSQL, and sellers with equal ids. */
import { describe } from 'node:test';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { NO_POSTGRES } from '../support/postgres/install.ts';
import { TEST_KEY } from '../support/postgres/server.ts';
import { borrowDatabase } from '../support/postgres/shared-server.ts';
import { closeAfter, type Engine } from './engine.ts';
import { testRandomReverts } from './revert-property.ts';
import { testRandomCalls } from './stock-property.ts';
import { testTwins } from './twins.ts';

const postgres: Engine = {
  runsShare: 1 / 3,
  async prepare(t) {
    // Before the database: cleanups run in the order in which they are registered.
    const open = closeAfter(t, (clock) => openPostgresStore({ connect, key: TEST_KEY, clock }));
    const connect = await borrowDatabase(t);
    // A rejected creation may use up an id where it shares a transaction with others.
    return { open, hasExactIds: false, assertHealthy: () => {} };
  },
};

describe('a store on PostgreSQL', { skip: NO_POSTGRES }, () => {
  testRandomCalls(postgres);
  testRandomReverts(postgres);
  testTwins(postgres);
});
