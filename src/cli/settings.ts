/** Reads the values of flags and settings: numbers, switches, addresses and files. */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { findRevision, type Revision } from '../domain/revision.ts';
import { decodeMarkedText } from '../domain/text.ts';
import { isSystemError } from '../runtime/system-error.ts';
import { CommandFailure, type Input, UsageError } from './command.ts';

type Values = Input['flags'];

/** Access for users that are neither the owner nor in the file's group; for all but the owner. */
const OTHERS_MODE = 0o007;
const NOT_OWNER_MODE = 0o077;

/** The number of a flag that has a `range`, which is checked. */
export function readNumber(values: Values, name: string, fallback: number): number {
  return Number(values[name] ?? fallback);
}

/** A position of the catalogue. @throws UsageError */
export function readPosition(values: Values, name: string): Revision {
  const revision = findRevision(values[name] ?? '');
  if (revision !== undefined) return revision;
  throw new UsageError(`--${name} takes a position, such as 12, not "${values[name]}".`);
}

/** Off unless it is given. @throws UsageError */
export function readSwitch(values: Values, name: string): boolean {
  const text = values[name] ?? 'false';
  if (/^(?:true|1|false|0)$/.test(text)) return text === 'true' || text === '1';
  throw new UsageError(`--${name} is true or false, not "${text}".`);
}

/** An HTTP address without a trailing slash. @throws UsageError, without repeating the value */
export function readUrl(values: Values, name: string): string | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  const isPlain = url !== null && !url.search && !url.hash && !url.username && !url.password;
  if (isPlain && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '');
  throw new UsageError(`--${name} takes an address such as https://shop.example, without a user,`
    + ' a query or a fragment.');
}

/** The items of a comma-separated list. */
export function splitList(text: string): string[] {
  return text.split(',').map((item) => item.trim()).filter(Boolean);
}

/** @throws UsageError */
export function splitAssignment(text: string): readonly [name: string, value: string] {
  const [name = '', ...rest] = text.split('=');
  if (name !== '' && rest.length > 0) return [name, rest.join('=')];
  throw new UsageError(`"${text}" is not of the form NAME=VALUE.`);
}

/** Reads a file that a setting names. @throws CommandFailure */
export function readSettingFile(path: string) {
  try {
    using opened = new DisposableStack();
    const file = opened.adopt(openSync(path, 'r'), closeSync);
    const { mode } = fstatSync(file);
    return {
      text: decodeMarkedText(readFileSync(file)),
      /** Whether every user of the machine can access it. */
      isOpenToAll: (mode & OTHERS_MODE) !== 0,
      /** Whether only its owner can access it. */
      isPrivate: (mode & NOT_OWNER_MODE) === 0,
    };
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) throw new CommandFailure(`There is no file ${path}.`);
    if (isSystemError(error, 'EACCES')) {
      throw new CommandFailure(`The user that runs this command may not read ${path}.`);
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`${path} cannot be read: ${reason}.`);
  }
}
