/** Every mutation by name: what the main thread may request from the writer thread. */
import type { DatabaseSync } from 'node:sqlite';
import type { AuditKey } from '../../rules/audit.ts';
import { editMutations } from '../../rules/mutations/edit-mutations.ts';
import { productMutations } from '../../rules/mutations/product-mutations.ts';
import { revertMutations } from '../../rules/mutations/revert-mutations.ts';
import { prepareOpenRecord } from '../../rules/mutations/import-records.ts';
import { stockMutations } from '../../rules/mutations/stock-mutations.ts';
import { StockLevelCache } from '../../rules/stock-levels.ts';
import { prepareImportRows } from '../catalogue/import-records.ts';
import { prepareProductRows } from '../catalogue/product-rows.ts';
import { sharedMutations } from '../../sql/shared.ts';
import { sqlOf } from '../sql.ts';
import { prepareStockRows } from '../catalogue/stock-rows.ts';
import type { CatalogueTransaction } from '../catalogue/transaction.ts';

/**
 * A mutation takes its input and the commit time, and returns its outcome. It may run twice (see
 * group-commit.ts), so its only effects are in the database.
 */
export function prepareMutations(
  db: DatabaseSync, transaction: CatalogueTransaction, auditKey: AuditKey,
) {
  const { positions } = transaction;
  const products = prepareProductRows(db, transaction);
  const openRecord = prepareOpenRecord(prepareImportRows(db), positions);
  const levels = new StockLevelCache();
  const stock = prepareStockRows(db, transaction, levels);
  return {
    ...sharedMutations(sqlOf(db), { auditKey, positions }),
    ...productMutations(products, positions, openRecord),
    ...editMutations(products, positions, openRecord),
    ...stockMutations(stock, positions, openRecord, levels),
    ...revertMutations(products, positions, openRecord),
  };
}

export type Mutations = ReturnType<typeof prepareMutations>;
export type MutationName = keyof Mutations;
export type MutationInput<Name extends MutationName> = Parameters<Mutations[Name]>[0];
export type MutationOutput<Name extends MutationName> = Awaited<ReturnType<Mutations[Name]>>;
