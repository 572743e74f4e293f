/** Data folders that are measured: a seller, keys and a catalogue. */
import { parseNewProduct } from '../../src/domain/catalogue/product.ts';
import { parseKeyId } from '../../src/domain/id.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Actor } from '../../src/store/write.ts';
import { makeProduct } from './load/made-up.ts';
import { runCommand } from './process.ts';

/** A key with its id. */
export interface Key {
  readonly id: string;
  readonly key: string;
}

export const EURO = { code: 'EUR', decimals: 2 };
const CREATES_IN_FLIGHT = 500;

/** Creates a new data folder with one seller, and its key. */
export function createSeller(data: string): Key {
  runCommand('seller', 'create', 'Bench', '--data', data);
  return createKey(data, 'bench');
}

/** Creates a key of the only seller. */
export function createKey(data: string, name: string): Key {
  const { id = '', key = '' } = runCommand('key', 'create', '--name', name, '--data', data);
  return { id, key };
}

/** The seller's actor, for writes to the store. */
export function parseActor(keyId: string): Actor {
  const actor = parseKeyId(keyId);
  if (!actor) throw new Error(`not the id of a key: ${keyId}`);
  return actor;
}

/** Creates the products of `makeProduct(n, 'F')`, `from` <= n < `to`: SKUs in scattered order. */
export async function fillCatalogue(
  data: string, keyId: string, from: number, to: number,
): Promise<void> {
  const actor = parseActor(keyId);
  const store = await openSqliteStore({ folder: data });
  for (let start = from; start < to; start += CREATES_IN_FLIGHT) {
    await Promise.all(Array.from({ length: Math.min(CREATES_IN_FLIGHT, to - start) }, (_, n) =>
      store.createProduct(actor, parseNewProduct(makeProduct(start + n, 'F'), EURO))));
  }
  await store.close();
}
