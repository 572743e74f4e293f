/**
 * `make bench`: everything, in about 15 minutes. `node test/bench/main.ts PART...` runs only these
 * parts. Machines differ and are shared: compare the ratios, not the rates.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureBeside } from './beside.ts';
import { measureCatalogue } from './catalogue.ts';
import { measureGrowth } from './growth.ts';
import { measureLoop } from './loop/main.ts';
import { measurePast } from './past.ts';
import { measureReverts } from './reverts.ts';
import { compareWithFloor } from './side-by-side.ts';
import { measureStock } from './stock.ts';
import { measureTenants } from './tenants.ts';
import { measureWebhooks } from './webhooks.ts';

/** The parts; each gets the path of a folder that does not exist yet. */
const PARTS: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  'side-by-side': compareWithFloor,
  beside: measureBeside,
  growth: measureGrowth,
  catalogue: measureCatalogue,
  stock: measureStock,
  past: measurePast,
  reverts: measureReverts,
  webhooks: measureWebhooks,
  tenants: measureTenants,
  loop: measureLoop,
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(PARTS);
const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(', ')}. Parts: ${Object.keys(PARTS).join(', ')}.`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'seller-api-bench-'));
// Also where the benchmark fails or is interrupted: a million products take hundreds of MiB.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));
for (const name of names) await PARTS[name]?.(join(folder, name));
