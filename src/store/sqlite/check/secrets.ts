/**
 * Whether `server.key` decrypts the secrets in a database: those of webhooks, and those of the
 * one-time passwords of accounts.
 */
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
  + 'it again. If the key is lost, rotate the secrets of the webhooks, and reset two-factor '
  + 'authentication of the accounts.';

/** The first version of the schema with accounts of the portal, and their sessions. */
export const PORTAL_VERSION = 5;

interface SecretKind {
  readonly name: string;
  /** The first version of the schema that has them. */
  readonly since: number;
  readonly select: string;
  /** What a secret is bound to. */
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

/** How many there are, and how many the key decrypts; `restore --json` prints these members. */
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

/** Counts the secrets of a database file that the key in a data folder decrypts. */
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
