/** Checks that `server.key` decrypts the secrets in a database: webhook and TOTP secrets. */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId, WebhookId } from '../../../domain/id.ts';
import { contextOfTotp } from '../accounts/account-store.ts';
import { openReader } from '../engine/connection.ts';
import { readBytes, readId, type Row } from '../engine/row.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import { findServerKey } from '../files/server-key.ts';
import { contextOfWebhook } from '../webhooks/webhook-store.ts';
import { fault, type Findings } from './finding.ts';

const ADVICE = 'Stop the server, restore the server.key that belongs to this database, and start '
  + 'it again. If the key is lost, rotate the webhook secrets, and reset two-factor '
  + 'authentication of the accounts.';

/** The first schema version with portal accounts and sessions. */
export const PORTAL_VERSION = 5;

interface SecretKind {
  readonly name: string;
  /** The first schema version that has these secrets. */
  readonly since: number;
  readonly select: string;
  /** The encryption context. */
  readonly contextOf: (sellerId: SellerId, row: Row) => string;
}

const KINDS: readonly SecretKind[] = [
  {
    name: 'webhook secrets', since: 4,
    select: `SELECT seller_id, id, secret FROM webhook UNION ALL
      SELECT seller_id, id, old_secret FROM webhook WHERE old_secret IS NOT NULL`,
    contextOf: (sellerId, row) =>
      contextOfWebhook({ sellerId, id: readId<WebhookId>(row, 'id') }),
  },
  {
    name: 'one-time password secrets', since: PORTAL_VERSION,
    select: 'SELECT seller_id, totp_secret AS secret FROM account WHERE totp_secret IS NOT NULL',
    contextOf: contextOfTotp,
  },
];

/** How many secrets exist, and how many the key decrypts; printed by `restore --json`. */
export interface SecretCount {
  readonly sealed: number;
  readonly opened: number;
}

export function* checkSecrets(db: DatabaseSync, folder = ''): Findings {
  const key = findServerKey(folder);
  for (const kind of KINDS) {
    const { sealed, opened } = countSecrets(db, [kind], key);
    if (opened === sealed) continue;
    yield fault('server.key is missing or belongs to another database: it cannot decrypt '
      + `${sealed - opened} of ${sealed} ${kind.name}.`, ADVICE);
  }
}

/** Counts the secrets of a database file that the data folder's key decrypts. */
export function countFileSecrets(file: string, version: number, keyFolder: string): SecretCount {
  using db = openReader(file);
  const kinds = KINDS.filter(({ since }) => version >= since);
  return countSecrets(db, kinds, findServerKey(keyFolder));
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
