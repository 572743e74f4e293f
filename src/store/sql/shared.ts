/** All shared SQL, composed: the same queries and mutations on every engine. */
import type { AccountStore } from '../account-store.ts';
import type { AuditKey } from '../rules/audit.ts';
import { keyQueries } from './access/key-queries.ts';
import { usageMutations, usageQueries } from './access/key-usage.ts';
import { keyMutations, type NoteKey } from './access/keys.ts';
import { prepareAssertSeller, sellerDeletionMutations } from './access/seller-deletion.ts';
import { sellerMutations, sellerQueries, sellerUpdateMutations } from './access/sellers.ts';
import { accountMutations, accountQueries, peopleMutations } from './accounts/accounts.ts';
import { auditQueries, prepareAuditLog } from './accounts/audit.ts';
import {
  columnMappingMutations, columnMappingQueries, prepareListFilters, savedFilterMutations,
} from './accounts/saved-filters.ts';
import { invitationMutations, invitationQueries } from './accounts/invitations.ts';
import { passkeyMutations, passkeyQueries, passkeySignInMutations } from './accounts/passkeys.ts';
import { sessionMutations, sessionQueries } from './accounts/sessions.ts';
import { totpMutations, totpQueries } from './accounts/totp.ts';
import { pruningMutations } from './history/history-pruning.ts';
import { livedTimeMutations, livedTimeQueries } from './lived-time.ts';
import { importQueries } from './history/import-queries.ts';
import { ledgerQueries } from './history/ledger-queries.ts';
import { pastQueries, revertQueries } from './history/past-queries.ts';
import { stockDayQueries, stockQueries } from './history/stock-queries.ts';
import { idempotencyMutations, idempotencyQueries } from './idempotency.ts';
import type { MutationsOf } from './port-methods.ts';
import type { Sql } from './sql.ts';
import { webhookDeliveryMutations } from './webhooks/webhook-deliveries.ts';
import { type WebhookEnvironment, webhookMutations } from './webhooks/webhook-mutations.ts';
import { webhookQueries } from './webhooks/webhooks.ts';

export function sharedQueries(sql: Sql) {
  return {
    ...sellerQueries(sql), ...keyQueries(sql), ...usageQueries(sql),
    ...importQueries(sql), ...idempotencyQueries(sql), ...webhookQueries(sql),
    ...accountQueries(sql), ...totpQueries(sql), ...sessionQueries(sql), ...invitationQueries(sql),
    ...passkeyQueries(sql), ...auditQueries(sql), ...columnMappingQueries(sql),
    ...livedTimeQueries(sql),
    listFilters: prepareListFilters(sql),
  };
}

/** Those that may read thousands of changes. */
export function reportQueries(sql: Sql) {
  return {
    ...ledgerQueries(sql), ...pastQueries(sql), ...revertQueries(sql), ...stockDayQueries(sql),
    ...stockQueries(sql),
  };
}

/** What the mutations need of their engine, apart from SQL. */
interface Environment {
  readonly auditKey: AuditKey;
  readonly positions: WebhookEnvironment['positions'];
  readonly noteKey?: NoteKey;
  /** Tables with rows of sellers that other engines do not have. */
  readonly ownTables?: readonly string[];
  /** The lived time of the transaction. */
  readonly lived: () => number;
}

/**
 * A mutation takes its input and the commit time, and returns its outcome. It may run twice, so its
 * only effects are in the database.
 */
export function sharedMutations(
  sql: Sql, { auditKey, positions, noteKey, lived, ownTables = [] }: Environment,
) {
  const audit = prepareAuditLog(sql, auditKey);
  const assertSeller = prepareAssertSeller(sql);
  const sellers = { ...sellerMutations(sql, audit), ...keyMutations(sql, audit, lived, noteKey) };
  return {
    ...sellers,
    ...sellerUpdateMutations(sql, audit),
    ...sellerDeletionMutations(sql, audit, ownTables),
    ...usageMutations(sql),
    ...pruningMutations(sql),
    ...idempotencyMutations(sql),
    ...livedTimeMutations(sql, lived),
    ...webhookMutations(sql, { positions, audit }),
    ...webhookDeliveryMutations(sql, lived),
    ...accountMutations(sql, audit),
    ...peopleMutations(sql, audit),
    ...totpMutations(sql, audit),
    ...sessionMutations(sql, audit, lived),
    ...passkeyMutations(sql, audit),
    ...passkeySignInMutations(sql, audit, lived),
    ...invitationMutations(sql, audit, lived, sellers),
    ...columnMappingMutations(sql),
    ...savedFilterMutations(sql),
    ...{
      async noteAuditEvent([event], at) {
        if (event.sellerId != null) await assertSeller(event.sellerId);
        await audit.add(event, at);
      },
    } satisfies Partial<MutationsOf<AccountStore>>,
  };
}

export type SharedMutations = ReturnType<typeof sharedMutations>;
