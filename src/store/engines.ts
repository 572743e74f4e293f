/**
 * The composition of the store: the adapters beside the one for SQLite, which is always there; one
 * at most.
 * Written by `.toolchain/composition.ts`; in `make minimal`, with fewer rooms.
 */
import type { DatabaseEngine } from './database-engine.ts';
import { postgres } from './postgres/adapter.ts';

export const engines: readonly DatabaseEngine[] = [
  postgres,
];
