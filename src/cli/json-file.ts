/** Small files of JSON, of which a crash leaves either the old or the new content. */
import { writeFileSync } from 'node:fs';
import { AtomicFile } from '../store/sqlite/files/atomic-file.ts';

/** Writes the file durably, readable by its owner alone, in place of an existing one. */
export function writeJsonFile(path: string, document: object): void {
  using file = new AtomicFile(path);
  file.begin(); // with mode 0600
  writeFileSync(file.tempPath, `${JSON.stringify(document, null, 2)}\n`);
  file.overwrite();
}
