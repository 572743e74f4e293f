/** Checks that `server.key` decrypts the secrets in a database: webhook and TOTP secrets. */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import { openReader } from '../engine/connection.ts';
import { readBytes, readId } from '../../sql/sql.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import { findServerKey } from '../files/server-key.ts';
import { SECRET_KINDS, type SecretKind } from '../../sql/check/secrets.ts';
import { fault, type Findings } from '../../sql/check/finding.ts';

const ADVICE = 'Stop the server, restore the server.key that belongs to this database, and start '
  + 'it again. If the key is lost, rotate the webhook secrets, and reset two-factor '
  + 'authentication of the accounts.';

/** How many secrets exist, and how many the key decrypts; printed by `restore --json`. */
export interface SecretCount {
  readonly sealed: number;
  readonly opened: number;
}

export function* checkSecrets(db: DatabaseSync, folder = ''): Findings {
  const key = findServerKey(folder);
  for (const kind of SECRET_KINDS) {
    const { sealed, opened } = countSecrets(db, [kind], key);
    if (opened === sealed) continue;
    yield fault('server.key is missing or belongs to another database: it cannot decrypt '
      + `${sealed - opened} of ${sealed} ${kind.name}.`, ADVICE);
  }
}

/** Counts the secrets of a database file that the data folder's key decrypts. */
export function countFileSecrets(file: string, keyFolder: string): SecretCount {
  using db = openReader(file);
  return countSecrets(db, SECRET_KINDS, findServerKey(keyFolder));
}

function countSecrets(
  db: DatabaseSync, kinds: readonly SecretKind[], key: ServerKey | undefined,
): SecretCount {
  let [sealed, opened] = [0, 0];
  for (const { select, contextOf } of kinds) {
    for (const row of db.prepare(select).iterate()) {
      const context = contextOf(readId<SellerId>(row, 'seller_id'), row);
      sealed += 1;
      if (key?.decrypt(readBytes(row, 'secret'), context) !== undefined) opened += 1;
    }
  }
  return { sealed, opened };
}
