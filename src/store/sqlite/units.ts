/** Every unit of work that writes, by name: what the main thread may ask of the writer's thread. */
import type { DatabaseSync } from 'node:sqlite';
import { keyUnits } from './keys.ts';
import { productUnits } from './products.ts';
import { sellerUnits } from './sellers.ts';

/** A unit takes its input and the time of its commit, and returns what is answered. */
export function prepareUnits(db: DatabaseSync) {
  return { ...sellerUnits(db), ...keyUnits(db), ...productUnits(db) };
}

export type Units = ReturnType<typeof prepareUnits>;
export type UnitName = keyof Units;
export type UnitInput<Name extends UnitName> = Parameters<Units[Name]>[0];
export type UnitOutput<Name extends UnitName> = ReturnType<Units[Name]>;
