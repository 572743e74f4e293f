/** Sellers with equal ids, on SQLite. */
import { describe } from 'node:test';
import { sqlite } from './sqlite-engine.ts';
import { testTwins } from './twins.ts';

describe('a store on SQLite', () => { testTwins(sqlite); });
