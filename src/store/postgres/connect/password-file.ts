/**
 * Finds the password of a connection: `PGPASSWORD`, else a line of the password file (PostgreSQL
 * manual, "The Password File"), which nobody else may read. It is read for each connection, so a
 * new password needs no restart.
 */
import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isSystemError } from '../../../runtime/system-error.ts';
import type { Server } from '../wire/socket.ts';

const FILE_LIMIT_BYTES = 1024 * 1024;

/** Undefined if there is none. @throws Error for a file that others may read. */
export async function findPassword(
  server: Server, user: string, database: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const { PGPASSWORD, PGPASSFILE } = environment;
  if (PGPASSWORD) return PGPASSWORD;
  const text = await readPrivately(PGPASSFILE || join(homedir(), '.pgpass'));
  // A socket in the default folder is localhost.
  const host = server.host === '/var/run/postgresql' ? 'localhost' : server.host;
  const criteria = [host, String(server.port), database, user];
  for (const line of text?.split(/\r?\n/) ?? []) {
    const fields = [...line.matchAll(/((?:\\.|[^:\\])*)(?::|$)/g)].map(([, field = '']) => field);
    const unescaped = fields.map((field) => field.replaceAll(/\\(.)/g, '$1'));
    const isMatch = criteria.every((value, index) =>
      fields[index] === '*' || unescaped[index] === value);
    if (isMatch && !line.startsWith('#')) return unescaped[criteria.length];
  }
  return undefined;
}

async function readPrivately(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > FILE_LIMIT_BYTES) {
      throw new Error(`password file "${path}" is not a plain file`);
    }
    if ((stats.mode & 0o077) !== 0) {
      throw new Error(`password file "${path}" has group or world access; permissions should be `
        + 'u=rw (0600) or less');
    }
    return await file.readFile('utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
