/** Sellers that are deleted, on SQLite. */
import { describe } from 'node:test';
import { testDeletion } from './deletion.ts';
import { sqlite } from './sqlite-engine.ts';

describe('a store on SQLite', () => { testDeletion(sqlite); });
