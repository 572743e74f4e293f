/** Every mutation by name: what the main thread may request from the writer thread. */
import type { DatabaseSync } from 'node:sqlite';
import type { AccountStore } from '../../account-store.ts';
import { accountMutations } from '../accounts/accounts.ts';
import { prepareAuditLog } from '../accounts/audit.ts';
import type { AuditKey } from '../accounts/audit-segments.ts';
import { columnMappingMutations } from '../accounts/column-mappings.ts';
import { pruningMutations } from '../history/history-pruning.ts';
import { idempotencyMutations } from '../catalogue/idempotency.ts';
import { invitationMutations } from '../accounts/invitations.ts';
import { usageMutations } from '../accounts/key-usage.ts';
import { keyMutations } from '../catalogue/keys.ts';
import type { PositionAllocator } from '../catalogue/position-allocator.ts';
import type { MutationsOf } from './port-methods.ts';
import { productMutations } from '../catalogue/product-mutations.ts';
import { revertMutations } from '../catalogue/revert-mutations.ts';
import { sellerMutations } from '../catalogue/sellers.ts';
import { sessionMutations } from '../accounts/sessions.ts';
import { stockMutations } from '../catalogue/stock-mutations.ts';
import { totpMutations } from '../accounts/totp.ts';
import { webhookDeliveryMutations } from '../webhooks/webhook-deliveries.ts';
import { webhookMutations } from '../webhooks/webhook-mutations.ts';

/**
 * A mutation takes its input and the commit time, and returns its outcome. It may run twice (see
 * group-commit.ts), so its only effects are in the database.
 */
export function prepareMutations(
  db: DatabaseSync, positions: PositionAllocator, auditKey: AuditKey,
) {
  const audit = prepareAuditLog(db, auditKey);
  const sellers = { ...sellerMutations(db, audit), ...keyMutations(db, audit) };
  return {
    ...sellers,
    ...usageMutations(db),
    ...productMutations(db, positions),
    ...stockMutations(db, positions),
    ...revertMutations(db, positions),
    ...pruningMutations(db),
    ...idempotencyMutations(db),
    ...webhookMutations(db, positions, audit),
    ...webhookDeliveryMutations(db),
    ...accountMutations(db, audit),
    ...totpMutations(db, audit),
    ...sessionMutations(db, audit),
    ...invitationMutations(db, audit, sellers),
    ...columnMappingMutations(db),
    ...{
      noteAuditEvent: ([event], at) => audit.add(event, at),
    } satisfies Partial<MutationsOf<AccountStore>>,
  };
}

export type Mutations = ReturnType<typeof prepareMutations>;
export type MutationName = keyof Mutations;
export type MutationInput<Name extends MutationName> = Parameters<Mutations[Name]>[0];
export type MutationOutput<Name extends MutationName> = ReturnType<Mutations[Name]>;
