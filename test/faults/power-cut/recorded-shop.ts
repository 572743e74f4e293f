/** A shop whose server is recorded, and the requests of its clients, each with its claims. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { HIGH_WATER_FILE_NAME } from '../../../src/store/sqlite/engine/high-water.ts';
import { createKey, createSeller } from '../../cli/setup.ts';
import { preload, type Serving, watchServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { makeFastFolder } from '../../support/small-disk.ts';
import type { Claim } from './claim.ts';
import type { Client } from './client.ts';
import { type Commits, listCommits } from './commits.ts';
import type { CutCounts } from './crash-states.ts';
import { checkDataFolder } from './check-data-folder.ts';
import { type Checker, play, type Played } from './play.ts';
import { type Conditions, Recorder, type Recording } from './record.ts';

const PRODUCTS = '/api/v1/products';
const FLAGS = ['--rate-limit', '0', '--webhook-allow-private', '--webhook-allow-http'];

export interface RecordedShop {
  readonly recorder: Recorder;
  /** The recorded folder; the data folder is in it, beside whatever else a test writes. */
  readonly root: string;
  readonly folder: string;
  readonly key: string;
}

/** A shop with one key, and empty folders beside it: from here on everything is recorded. */
export async function openRecordedShop(
  t: TestContext, folders: readonly string[] = [],
): Promise<RecordedShop> {
  const root = makeFolder(t);
  for (const name of folders) mkdirSync(join(root, name));
  const folder = join(root, 'data');
  await createSeller(folder);
  const { key } = await createKey(folder);
  return { recorder: new Recorder(t, root), root, folder, key };
}

export async function serveRecorded(
  t: TestContext, { recorder, folder }: Pick<RecordedShop, 'recorder' | 'folder'>,
  flags: readonly string[] = [], conditions: Conditions = {},
): Promise<Serving> {
  const args = ['serve', '--port', '0', '--json', '--data', folder, ...FLAGS, ...flags];
  return watchServing(t, recorder.start(args, conditions));
}

/** Changes the SQL of a recorded process. */
export function rewriteSql(wanted: string, replacement: string): Conditions {
  const module = join(import.meta.dirname, 'rewrite-sql.ts');
  return { environment: {
    ...preload(module), TEST_REWRITE_SQL: JSON.stringify([wanted, replacement]),
  } };
}

/** Creates, changes and deletes products of its own. */
export async function work(client: Client, name: string, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const sku = `${name}-${round}`;
    await client.ask({
      method: 'POST', path: PRODUCTS,
      body: { sku, name: `Mug ${round} “ü”`, category: 'Kitchen', price: 1.5, stock: 7 },
    }, claimChange(sku));
    const path = `${PRODUCTS}/sku/${sku}`;
    const body = { price: round };
    if (round % 3 === 1) await client.ask({ method: 'PATCH', path, body }, claimChange(sku));
    if (round % 4 !== 3) continue;
    const sql = "SELECT 1 FROM change WHERE sku = ? AND type = 'deleted'";
    const claim = { what: `${sku} is deleted`, sql, values: [sku] };
    await client.ask({ method: 'DELETE', path }, () => [claim]);
  }
}

function claimChange(sku: string): (text: string) => Claim[] {
  return (text) => {
    const { position } = JSON.parse(text) as { position: number };
    const sql = 'SELECT 1 FROM change WHERE sku = ? AND position = ?';
    return [{ what: `${sku} is at position ${position}`, sql, values: [sku, position] }];
  };
}

/** Imports products in one file, several times. */
export async function importProducts(client: Client, imports: number, rows: number): Promise<void> {
  for (let n = 0; n < imports; n += 1) {
    const first = n * rows / 2; // half of each file are products of the one before
    const lines = Array.from({ length: rows }, (_, row) => JSON.stringify({
      sku: `IMPORT-${first + row}`, name: `Mug ${n}`, category: 'Kitchen', price: 3, stock: 9,
    }));
    await client.ask({
      method: 'POST', path: `${PRODUCTS}/import`, type: 'application/x-ndjson',
      body: lines.join('\n'),
    }, (text) => {
      const { summary } = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
      assert.equal(summary.failed, 0, text);
      return [claimPosition('an import', summary.position)];
    });
  }
}

/** Sets and adjusts the stock of existing products. */
export async function syncStock(
  client: Client, skus: readonly string[], calls: number,
): Promise<void> {
  for (let call = 0; call < calls; call += 1) {
    const changes = skus.map((sku) => (call % 2 === 0 ? { sku, set: call } : { sku, adjust: 5 }));
    await client.ask({ method: 'POST', path: '/api/v1/stock', body: { changes } }, (text) => {
      const { position, failed } = JSON.parse(text);
      assert.equal(failed, 0, text);
      return [claimPosition('a change of stock', position)];
    });
  }
}

export function claimPosition(what: string, position: number): Claim {
  const sql = 'SELECT 1 FROM seller WHERE position >= ?';
  return { what: `${what} up to position ${position}`, sql, values: [position] };
}

/** Creates a webhook, whose secret is encrypted with the server's key. */
export async function createWebhook(client: Client, url: string): Promise<void> {
  await client.ask({ method: 'POST', path: '/api/v1/webhooks', body: { url } }, () =>
    [{ what: `${url} exists`, sql: 'SELECT 1 FROM webhook WHERE url = ?', values: [url] }]);
}

export interface Cutting extends CutCounts {
  /** The data folder of the recording. */
  readonly folder: string;
  /** Whether the run begins without a catalogue. */
  readonly mayBeNew?: boolean;
  /** The server's key, which the operator puts back after the cut, as a backup has none. */
  readonly keyFile?: string;
  /** Whether high-water.json is kept: behind its mark, a catalogue begins a generation. */
  readonly hasMark?: boolean;
  /** Checks the files beside the data folder. */
  readonly checkRest?: (commits: Commits) => Checker;
}

/** Cuts the power of a finished run, and checks its data folder and the files beside it. */
export async function cutPower(
  t: TestContext, recording: Recording,
  { folder, mayBeNew = false, keyFile, hasMark = true, checkRest, ...counts }: Cutting,
): Promise<Played> {
  // In memory: the states are created and opened without waiting for a real disk.
  const scratch = makeFastFolder(t, '512m');
  const commits = await listCommits(recording, folder, join(scratch, 'commit'));
  const rest = checkRest?.(commits);
  return play(t, recording, async (state) => {
    const { receipts, manner } = state;
    const data = join(state.folder, folder.slice(recording.root.length));
    if (keyFile !== undefined && existsSync(data)) copyFileSync(keyFile, join(data, 'server.key'));
    if (!hasMark) rmSync(join(data, HIGH_WATER_FILE_NAME), { force: true });
    return [
      ...await checkDataFolder(data, { commits, receipts, mayBeNew }, manner),
      ...findMissingFiles(state),
      ...await rest?.(state) ?? [],
    ];
  }, { ...counts, scratch });
}

function findMissingFiles({ folder, receipts }: Parameters<Checker>[0]): string[] {
  return receipts.flatMap(({ what, file }) =>
    (file === undefined || existsSync(join(folder, file)) ? [] : [`Lost: ${what}.`]));
}
