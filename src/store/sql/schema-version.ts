/** Versions of the schema, with the same numbers for both engines. */
import { AppError } from '../../domain/error.ts';

/** Of schema.sql. Versions 1 to 23 were formats from before the first release. */
export const FIRST_VERSION = 24;

/**
 * @param subject The file or database: "data/catalogue.db"
 * @param newPlace Where its products can be imported: "a new data folder"
 * @throws AppError `unavailable` for a version before the first
 */
export function assertNotOld(version: number, subject: string, newPlace: string): void {
  if (version >= FIRST_VERSION) return;
  throw new AppError('unavailable', `${subject} has a format from before the first release, which `
    + 'this version cannot read. It was left unchanged: export its products with the version that '
    + `wrote it, and import them into ${newPlace}.`);
}

/** @throws AppError `unavailable` for a version before the first or after the newest */
export function assertKnown(
  version: number, newest: number, subject: string, newPlace: string,
): void {
  assertNotOld(version, subject, newPlace);
  if (version <= newest) return;
  throw new AppError('unavailable', `${subject} was written by a newer version. It was left `
    + 'unchanged: run that version, or a newer one.');
}
