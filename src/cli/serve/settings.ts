/** Reads the settings of `serve`, each of which is text: from a flag, or from a variable. */
import { UsageError } from '../command.ts';

/** A whole number from 0 to `limit`. @throws UsageError */
export function readNumber(
  flag: string, text: string | undefined, fallback: number, limit: number,
): number {
  if (text === undefined) return fallback;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number <= limit) return number;
  throw new UsageError(`--${flag} takes a whole number from 0 to ${limit}, not "${text}".`);
}

/** Off unless it is given. @throws UsageError */
export function readSwitch(flag: string, text: string | undefined): boolean {
  if (text === undefined || text === 'false' || text === '0') return false;
  if (text === 'true' || text === '1') return true;
  throw new UsageError(`--${flag} is true or false, not "${text}".`);
}
