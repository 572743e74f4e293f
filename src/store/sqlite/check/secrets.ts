/** Whether the key of the server opens what the database keeps sealed. */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId, WebhookId } from '../../../domain/id.ts';
import { contextOfTotp } from '../accounts/account-store.ts';
import { readBytes, readInteger, readOptional } from '../engine/row.ts';
import type { ServerKey } from '../files/server-key.ts';
import { contextOfWebhook } from '../webhooks/webhook-store.ts';
import { fault, type Finding } from './finding.ts';

const ADVICE = 'Stop the server, put back the server.key that belongs to this database, and start '
  + 'it again. If the key is lost, rotate the secrets of the webhooks, and reset the second step '
  + 'of the accounts.';

export function* checkSecrets(
  db: DatabaseSync, key: ServerKey | undefined,
): Generator<Finding, void, void> {
  const webhooks = countWebhookSecrets(db, key);
  if (webhooks.closed > 0) {
    yield fault(`server.key is missing, or another one: of ${webhooks.all} secrets of webhooks it `
      + `does not open ${webhooks.closed}.`, ADVICE);
  }
  const accounts = countTotpSecrets(db, key);
  if (accounts.closed > 0) {
    yield fault(`server.key is missing, or another one: of ${accounts.all} secrets of one-time `
      + `codes it does not open ${accounts.closed}.`, ADVICE);
  }
}

/** How many there are, and how many of them do not open. */
interface SealedCount {
  readonly all: number;
  readonly closed: number;
}

export function countWebhookSecrets(db: DatabaseSync, key: ServerKey | undefined): SealedCount {
  return tryKey(findWebhookSecrets(db), key);
}

export function countTotpSecrets(db: DatabaseSync, key: ServerKey | undefined): SealedCount {
  return tryKey(findTotpSecrets(db), key);
}

interface Sealed {
  readonly bytes: Uint8Array;
  readonly context: string;
}

function tryKey(secrets: Iterable<Sealed>, key: ServerKey | undefined): SealedCount {
  let [all, closed] = [0, 0];
  for (const { bytes, context } of secrets) {
    all += 1;
    if (key?.decrypt(bytes, context) === undefined) closed += 1;
  }
  return { all, closed };
}

function* findWebhookSecrets(db: DatabaseSync): Generator<Sealed, void, void> {
  const rows = db.prepare('SELECT seller_id, id, secret, old_secret FROM webhook').iterate();
  for (const row of rows) {
    // The columns hold what these brands mean.
    const context = contextOfWebhook({
      sellerId: readInteger(row, 'seller_id') as SellerId, id: readInteger(row, 'id') as WebhookId,
    });
    yield { bytes: readBytes(row, 'secret'), context };
    const old = readOptional(row, 'old_secret', readBytes);
    if (old) yield { bytes: old, context };
  }
}

function* findTotpSecrets(db: DatabaseSync): Generator<Sealed, void, void> {
  const rows = db.prepare(`
    SELECT seller_id, totp_secret FROM account WHERE totp_secret IS NOT NULL`).iterate();
  for (const row of rows) {
    // The column holds what this brand means.
    const context = contextOfTotp(readInteger(row, 'seller_id') as SellerId);
    yield { bytes: readBytes(row, 'totp_secret'), context };
  }
}
