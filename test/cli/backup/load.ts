/** A server under load, whose catalogue is backed up, and what the copy has. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { program, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { makeProduct } from '../../support/server.ts';
import { createKey, createSeller } from '../setup.ts';

export interface Load {
  readonly folder: string;
  readonly keys: readonly string[];
  /** The acknowledged positions by SKU; `S0-12` is of the first seller. */
  readonly answered: ReadonlyMap<string, number>;
  /** Resolves once this many creations were acknowledged. */
  reach(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** A server in a separate process, and two sellers that create products without a pause. */
export async function startLoad(t: TestContext): Promise<Load> {
  const folder = join(makeFolder(t), 'data');
  const sellers = [await createSeller(folder, 'One'), await createSeller(folder, 'Two')];
  const keys = await Array.fromAsync(sellers, async (seller) =>
    (await createKey(folder, ['--seller', seller])).key);
  const { port, stop } = await startServing(t, ['--data', folder, '--rate-limit', '0']);
  const answered = new Map<string, number>();
  let isOver = false;
  const create = async (key: string, seller: number, worker: number): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      const sku = `S${seller}-${worker}-${n}`;
      const answer = await send(port, {
        method: 'POST', path: '/api/v1/products',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ ...makeProduct(), sku, name: 'x'.repeat(200) }),
      });
      assert.equal(answer.status, 201, answer.text);
      answered.set(sku, answer.json().position);
    }
  };
  const work = Promise.all(keys.flatMap((key, seller) =>
    [0, 1].map((worker) => create(key, seller, worker))));
  return {
    folder, keys, answered,
    async reach(count) {
      while (answered.size < count) await Promise.race([wait(5), work]);
    },
    async stop() {
      isOver = true;
      await work;
      await stop('SIGTERM');
    },
  };
}

export function startBackup(t: TestContext, file: string, folder: string): ChildProcess {
  const child = spawn(...program('backup', file, '--data', folder), { stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

/** Checks the integrity of a file with SQLite, and returns its positions and products. */
export function readCatalogue(
  file: string,
): { readonly positions: readonly number[]; readonly products: ReadonlyMap<string, number> } {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
    const positions = db.prepare('SELECT position FROM seller ORDER BY id').all()
      .map((row) => Number(row['position']));
    const products = db.prepare('SELECT sku, position FROM product').all()
      .map((row) => [String(row['sku']), Number(row['position'])] as const);
    return { positions, products: new Map(products) };
  } finally {
    db.close();
  }
}
