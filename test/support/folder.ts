/** Creates temporary folders for tests, and removes them afterwards. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { prepareCatalogueFile } from '../../src/store/sqlite/engine/database-file.ts';
import { processEnd } from './process-end.ts';

export function makeFolder(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-test-'));
  // A store that is closed after this may still create a file meanwhile.
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** The data folder that `makeDataFolder` copies. */
let template: string | undefined;

/**
 * A data folder with an empty catalogue. A copy takes 2 ms, creating one 50 ms: so all of a process
 * have the same server's key.
 */
export function makeDataFolder(t: Pick<TestContext, 'after'>): string {
  template ??= makeTemplate();
  const folder = join(makeFolder(t), 'data');
  cpSync(template, folder, { recursive: true });
  return folder;
}

function makeTemplate(): string {
  const folder = join(makeFolder(processEnd), 'data');
  prepareCatalogueFile(folder);
  return folder;
}
