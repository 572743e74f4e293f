/**
 * The composition of the store: the adapters beside the one for SQLite, which is always there; one
 * at most. `make minimal` writes this file for a selection, by `.toolchain/composition.ts`.
 */
import type { DatabaseEngine } from './database-engine.ts';
import { postgres } from './postgres/adapter.ts';

export const engines: readonly DatabaseEngine[] = [
  postgres,
];
