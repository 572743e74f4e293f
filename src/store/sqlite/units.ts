/** Every unit of work that writes, by name: what the main thread may ask of the writer's thread. */
import type { DatabaseSync } from 'node:sqlite';
import { accountResetUnits } from './account-resets.ts';
import { accountUnits } from './accounts.ts';
import { AuditLog, auditUnits } from './audit.ts';
import type { AuditKey } from './audit-segments.ts';
import { pruningUnits } from './history-pruning.ts';
import { idempotencyUnits } from './idempotency.ts';
import { invitationUnits } from './invitations.ts';
import { usageUnits } from './key-usage.ts';
import { keyUnits } from './keys.ts';
import type { Positions } from './positions.ts';
import { productUnits } from './product-units.ts';
import { sellerUnits } from './sellers.ts';
import { sessionUnits } from './sessions.ts';
import { stockUnits } from './stock-units.ts';
import { totpUnits } from './totp.ts';
import { webhookDeliveryUnits } from './webhook-deliveries.ts';
import { webhookUnits } from './webhook-units.ts';

/**
 * A unit takes its input and the time of its commit, and returns what is answered. It may be run
 * twice (see group-commit.ts): all that it does, it does in the database.
 */
export function prepareUnits(db: DatabaseSync, positions: Positions, auditKey: AuditKey) {
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

export type Units = ReturnType<typeof prepareUnits>;
export type UnitName = keyof Units;
export type UnitInput<Name extends UnitName> = Parameters<Units[Name]>[0];
export type UnitOutput<Name extends UnitName> = ReturnType<Units[Name]>;
