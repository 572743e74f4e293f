/**
 * Whether `server.key` decrypts the secrets in a database: those of webhooks, and those of the
 * one-time passwords of accounts.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId, WebhookId } from '../../../domain/id.ts';
import { contextOfTotp } from '../accounts/account-store.ts';
import { openReader } from '../engine/connection.ts';
import { readBytes, readId, readOptional } from '../engine/row.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import { findServerKey } from '../files/server-key.ts';
import { contextOfWebhook } from '../webhooks/webhook-store.ts';
import { fault, type Findings } from './finding.ts';

const ADVICE = 'Stop the server, restore the server.key that belongs to this database, and start '
  + 'it again. If the key is lost, rotate the secrets of the webhooks, and reset two-factor '
  + 'authentication of the accounts.';

/** The first version of the schema with accounts of the portal, and their sessions. */
export const PORTAL_VERSION = 5;

interface EncryptedSecret {
  readonly bytes: Uint8Array;
  readonly context: string;
}

interface SecretKind {
  readonly name: string;
  /** The first version of the schema that has them. */
  readonly since: number;
  list(db: DatabaseSync): Iterable<EncryptedSecret>;
}

const KINDS: readonly SecretKind[] = [
  { name: 'webhook secrets', since: 4, list: listWebhookSecrets },
  { name: 'one-time password secrets', since: PORTAL_VERSION, list: listTotpSecrets },
];

/** How many there are, and how many the key decrypts; `restore --json` prints these members. */
export interface SecretCount {
  readonly sealed: number;
  readonly opened: number;
}

export function* checkSecrets(db: DatabaseSync, key: ServerKey | undefined): Findings {
  for (const { name, list } of KINDS) {
    const { sealed, opened } = countSecrets(list(db), key);
    if (opened === sealed) continue;
    yield fault('server.key is missing or belongs to another database: it cannot decrypt '
      + `${sealed - opened} of ${sealed} ${name}.`, ADVICE);
  }
}

/** Counts the secrets of a database file that the key in a data folder decrypts. */
export function countFileSecrets(file: string, version: number, keyFolder: string): SecretCount {
  const db = openReader(file);
  try {
    const kinds = KINDS.filter(({ since }) => version >= since);
    return countSecrets(kinds.flatMap(({ list }) => [...list(db)]), findServerKey(keyFolder));
  } finally {
    db.close();
  }
}

function countSecrets(
  secrets: Iterable<EncryptedSecret>, key: ServerKey | undefined,
): SecretCount {
  let [sealed, opened] = [0, 0];
  for (const { bytes, context } of secrets) {
    sealed += 1;
    if (key?.decrypt(bytes, context) !== undefined) opened += 1;
  }
  return { sealed, opened };
}

function* listWebhookSecrets(db: DatabaseSync): Generator<EncryptedSecret, void, void> {
  const rows = db.prepare('SELECT seller_id, id, secret, old_secret FROM webhook').iterate();
  for (const row of rows) {
    const context = contextOfWebhook({
      sellerId: readId<SellerId>(row, 'seller_id'), id: readId<WebhookId>(row, 'id'),
    });
    yield { bytes: readBytes(row, 'secret'), context };
    const old = readOptional(row, 'old_secret', readBytes);
    if (old) yield { bytes: old, context };
  }
}

function* listTotpSecrets(db: DatabaseSync): Generator<EncryptedSecret, void, void> {
  const rows = db.prepare(`
    SELECT seller_id, totp_secret FROM account WHERE totp_secret IS NOT NULL`).iterate();
  for (const row of rows) {
    const context = contextOfTotp(readId<SellerId>(row, 'seller_id'));
    yield { bytes: readBytes(row, 'totp_secret'), context };
  }
}
