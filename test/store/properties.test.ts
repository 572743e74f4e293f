/** The property tests on SQLite. */
import { describe } from 'node:test';
import { testRandomReverts } from './revert-property.ts';
import { sqlite } from './sqlite-engine.ts';
import { testRandomCalls } from './stock-property.ts';

describe('a store on SQLite', () => {
  testRandomCalls(sqlite);
  testRandomReverts(sqlite);
});
