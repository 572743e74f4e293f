/**
 * Where a command finds the catalogue: a data folder, or a database if there is an adapter for one
 * (`store/engines.ts`), whose settings are flags here.
 */
import { resolve } from 'node:path';
import { AppError } from '../domain/error.ts';
import type { LocationInput } from '../store/database-engine.ts';
import { engines } from '../store/engines.ts';
import type { StoreLocation } from '../store/open-store.ts';
import { DEFAULT_DATA_FOLDER } from './limits.ts';

export const dataFlag = {
  value: 'DIR', isSetting: true, help: `folder of the database (default: ${DEFAULT_DATA_FOLDER})`,
} as const;

export const locationFlags = {
  data: dataFlag, ...Object.assign({}, ...engines.map(({ settings }) => settings)),
};

/** @throws AppError `invalid_data` */
export function readLocation(input: LocationInput): StoreLocation {
  const databases = engines.map((engine) => engine.readLocation(input));
  return databases.find((location) => location !== undefined) ?? readFolder(input.values);
}

/** For a command with no flags but those of a folder, if any. */
export function readFolder({ data }: LocationInput['values']): StoreLocation {
  return { folder: resolve(data ?? DEFAULT_DATA_FOLDER) };
}

/** The folder, for backups. @throws AppError `invalid_data` that says what databases have */
export function getFolder(location: StoreLocation): string {
  if ('folder' in location) return location.folder;
  const advice = engines.map(({ backupAdvice }) => ` ${backupAdvice}`).join('');
  throw new AppError('invalid_data', `Backups and their flags are for data folders.${advice}`);
}

/** The flags that name a location again, for commands to copy. */
export function formatLocation(
  location: StoreLocation, quote: (text: string) => string,
): readonly string[] {
  if ('database' in location) {
    return engines.flatMap((engine) => engine.formatLocation(location, quote));
  }
  const { folder } = location;
  return folder === resolve(DEFAULT_DATA_FOLDER) ? [] : ['--data', quote(folder)];
}
