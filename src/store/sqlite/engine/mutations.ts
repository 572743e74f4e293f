/** Every unit of work that writes, by name: what the main thread may ask of the writer's thread. */
import type { DatabaseSync } from 'node:sqlite';
import { accountResetUnits } from '../accounts/account-resets.ts';
import { accountUnits } from '../accounts/accounts.ts';
import { AuditLog, auditUnits } from '../accounts/audit.ts';
import type { AuditKey } from '../accounts/audit-segments.ts';
import { pruningUnits } from '../history/history-pruning.ts';
import { idempotencyUnits } from '../catalogue/idempotency.ts';
import { invitationUnits } from '../accounts/invitations.ts';
import { usageUnits } from '../accounts/key-usage.ts';
import { keyUnits } from '../catalogue/keys.ts';
import type { PositionAllocator } from '../catalogue/position-allocator.ts';
import { productUnits } from '../catalogue/product-mutations.ts';
import { sellerUnits } from '../catalogue/sellers.ts';
import { sessionUnits } from '../accounts/sessions.ts';
import { stockUnits } from '../catalogue/stock-mutations.ts';
import { totpUnits } from '../accounts/totp.ts';
import { webhookDeliveryUnits } from '../webhooks/webhook-deliveries.ts';
import { webhookUnits } from '../webhooks/webhook-mutations.ts';

/**
 * A unit takes its input and the time of its commit, and returns what is answered. It may be run
 * twice (see group-commit.ts): all that it does, it does in the database.
 */
export function prepareMutations(
  db: DatabaseSync, positions: PositionAllocator, auditKey: AuditKey,
) {
  const audit = new AuditLog(db, auditKey);
  const sellers = { ...sellerUnits(db, audit), ...keyUnits(db, audit) };
  return {
    ...sellers, ...usageUnits(db), ...productUnits(db, positions),
    ...stockUnits(db, positions), ...pruningUnits(db), ...idempotencyUnits(db),
    ...webhookUnits(db, positions, audit), ...webhookDeliveryUnits(db),
    ...accountUnits(db, audit), ...accountResetUnits(db, audit), ...totpUnits(db, audit),
    ...sessionUnits(db, audit), ...invitationUnits(db, audit, sellers), ...auditUnits(audit),
  };
}

export type Mutations = ReturnType<typeof prepareMutations>;
export type MutationName = keyof Mutations;
export type MutationInput<Name extends MutationName> = Parameters<Mutations[Name]>[0];
export type MutationOutput<Name extends MutationName> = ReturnType<Mutations[Name]>;
