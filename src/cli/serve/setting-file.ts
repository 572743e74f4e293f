/** A file that a setting of `serve` names: where it cannot be read, that is told in words. */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { isSystemError } from '../../runtime/system-error.ts';
import { CommandFailure } from '../command.ts';

interface SettingFile {
  /** Of UTF-8. */
  readonly text: string;
  /** Whether every user of the machine may do something with it. */
  readonly isOpenToAll: boolean;
}

const OTHERS = 0o007;

/** @throws CommandFailure */
export function readSettingFile(path: string): SettingFile {
  try {
    const file = openSync(path, 'r');
    try {
      const isOpenToAll = (fstatSync(file).mode & OTHERS) !== 0;
      return { text: readFileSync(file, 'utf8'), isOpenToAll };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) throw new CommandFailure(`There is no file ${path}.`);
    if (isSystemError(error, 'EACCES')) {
      throw new CommandFailure(`The user that runs this server may not read ${path}.`);
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`${path} cannot be read: ${reason}.`);
  }
}
