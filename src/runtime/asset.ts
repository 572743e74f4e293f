/**
 * Reads the files beside modules: SQL, the portal's stylesheet and scripts, lists. A call names its
 * file as `new URL('schema.sql', import.meta.url)`. The build of the package puts the contents of
 * the file there (`.toolchain/embed-assets.ts`), since bundlers find modules, but no other files.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** @param file Its URL; in the package, its contents. */
export function readAsset(file: URL | string): string {
  return typeof file === 'string' ? file : explainMissing(() => readFileSync(file, 'utf8'));
}

/**
 * The contents of the files of a folder, by file name.
 * @param folder Its URL, which ends with `/`; in the package, its contents by file name.
 */
export function readAssets(
  folder: URL | Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  if (!(folder instanceof URL)) return new Map(Object.entries(folder));
  return new Map(explainMissing(() => readdirSync(folder)).map((name) =>
    [name, readAsset(new URL(name, folder))]));
}

function explainMissing<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (cause) {
    // Without the code of the system's error, which would look like one of a data folder.
    throw new Error('A file of this program is missing. If it was bundled: bundle the npm package,'
      + ' not its source, or leave it out of the bundle.', { cause });
  }
}
