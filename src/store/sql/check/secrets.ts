/** Which secrets a database has that the server's key encrypts, and in which contexts. */
import type { AccountId, SellerId, WebhookId } from '../../../domain/id.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import { contextOfTotp } from '../accounts/account-secrets.ts';
import { readBytes, readId, type Row } from '../sql.ts';
import { contextOfWebhook } from '../webhooks/webhook-methods.ts';
import { fault, fillIn, type Scan } from './finding.ts';

export interface SecretKind {
  readonly name: string;
  readonly select: string;
  /** The encryption context. */
  readonly contextOf: (sellerId: SellerId, row: Row) => string;
}

export const SECRET_KINDS: readonly SecretKind[] = [
  {
    name: 'webhook secrets',
    select: `SELECT seller_id, id, secret FROM webhook UNION ALL
      SELECT seller_id, id, old_secret FROM webhook WHERE old_secret IS NOT NULL`,
    contextOf: (sellerId, row) =>
      contextOfWebhook({ sellerId, id: readId<WebhookId>(row, 'id') }),
  },
  {
    name: 'one-time password secrets',
    select: `SELECT seller_id, id, totp_secret AS secret FROM account
      WHERE totp_secret IS NOT NULL`,
    contextOf: (sellerId, row) =>
      contextOfTotp({ sellerId, accountId: readId<AccountId>(row, 'id') }),
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
