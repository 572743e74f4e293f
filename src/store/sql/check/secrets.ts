/** Which secrets a database has that the server's key encrypts, and in which contexts. */
import type { AccountId, SellerId, WebhookId } from '../../../domain/id.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import { contextOfTotp } from '../accounts/account-secrets.ts';
import { readBytes, readId, type Row } from '../row.ts';
import { contextOfWebhook } from '../webhooks/webhook-methods.ts';
import { fault, fillIn, type Scan } from './finding.ts';

/** The first schema version with portal accounts and sessions. */
export const PORTAL_VERSION = 5;

export interface SecretKind {
  readonly name: string;
  /** The first schema version that has these secrets. */
  readonly since: number;
  readonly select: string;
  /** The encryption context. */
  readonly contextOf: (sellerId: SellerId, row: Row) => string;
}

export const SECRET_KINDS: readonly SecretKind[] = [
  {
    name: 'webhook secrets', since: 4,
    select: `SELECT seller_id, id, secret FROM webhook UNION ALL
      SELECT seller_id, id, old_secret FROM webhook WHERE old_secret IS NOT NULL`,
    contextOf: (sellerId, row) =>
      contextOfWebhook({ sellerId, id: readId<WebhookId>(row, 'id') }),
  },
  {
    name: 'one-time password secrets', since: PORTAL_VERSION,
    // All columns: a backup of an earlier version has no ids of accounts.
    select: 'SELECT *, totp_secret AS secret FROM account WHERE totp_secret IS NOT NULL',
    // The cast: it is a column of ids.
    contextOf: (sellerId, { id = 1 }) =>
      contextOfTotp({ sellerId, accountId: Number(id) as AccountId }),
  },
];

/** One finding for each secret that the key does not decrypt. */
export function secretScans(key: ServerKey): readonly Scan[] {
  return SECRET_KINDS.map(({ name, select, contextOf }) => ({
    isGlobal: true,
    select: () => select,
    begin: () => (row) => {
      const context = contextOf(readId<SellerId>(row, 'seller_id'), row);
      if (key.decrypt(readBytes(row, 'secret'), context) !== undefined) return [];
      return [fault(fillIn(`The server's key cannot decrypt one of the ${name} of seller {seller}.`,
        row), 'Rotate the webhook secret, or reset two-factor authentication of the account.')];
    },
  }));
}
