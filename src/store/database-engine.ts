/**
 * What an adapter for a database server gives to the composition (`engines.ts`): the settings that
 * say where a database is, and what a data folder has in SQLite's adapter. The rest of the program
 * names no such engine.
 */
import type { Check } from './sql/check/finding.ts';
import type { Store } from './store.ts';

/** A database, which any number of processes may use at a time. */
export interface DatabaseLocation {
  /** Such as `postgres://user@host:5432/name`, without a password. */
  readonly database: string;
  /** The file with the server's key: 32 bytes, the same for every process. */
  readonly serverKeyFile: string;
  /** A file with the password. Default: what the engine's own tools use. */
  readonly passwordFile?: string | undefined;
  /** Default: the environment of the process. */
  readonly environment?: Readonly<NodeJS.ProcessEnv>;
}

/** A flag of every local command, which the environment variable `SELLER_API_...` can set, too. */
interface LocationSetting {
  /** Placeholder of its value in the help. */
  readonly value: string;
  readonly help: string;
  readonly isSetting: true;
}

/** The settings that were given, by name. */
export interface LocationInput {
  /** As flags. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** As flags or as variables. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
}

export interface DatabaseEngine {
  readonly settings: Readonly<Record<string, LocationSetting>>;
  /** What to use in place of the backups of a data folder, as a sentence. */
  readonly backupAdvice: string;
  /** Undefined if the settings name a data folder. @throws AppError `invalid_data` */
  readLocation(input: LocationInput): DatabaseLocation | undefined;
  /** The flags that name a location again, for commands to copy. */
  formatLocation(location: DatabaseLocation, quote: (text: string) => string): readonly string[];
  /** @throws AppError `invalid_data` for the URL; `unavailable` */
  open(location: DatabaseLocation, clock?: () => number): Promise<Store>;
  /** `find` of each must be called before the next one. @throws AppError as `open` */
  check(location: DatabaseLocation): AsyncIterable<Check>;
}
