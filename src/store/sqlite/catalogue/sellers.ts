/** Sellers in SQLite: statements and their row mapper. */
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { nextId, type SellerId } from '../../../domain/id.ts';
import type { NewSeller, Seller } from '../../../domain/access/seller.ts';
import type { PageQuery } from '../../write.ts';
import type { AuditLog } from '../accounts/audit.ts';
import { readCurrency, readInteger, readOptional, readText, type Row } from '../engine/row.ts';

const COLUMNS = 'id, name, currency, currency_decimals, position, created_at, disabled_at';

export type SellerMutations = ReturnType<typeof sellerMutations>;

export function sellerMutations(db: DatabaseSync, audit: AuditLog) {
  const findLastId = db.prepare('SELECT coalesce(max(id), 0) AS id FROM seller');
  const insert = db.prepare(`
    INSERT INTO seller (id, name, currency, currency_decimals, created_at)
    VALUES (?, ?, ?, ?, ?) RETURNING ${COLUMNS}`);
  const find = db.prepare(`SELECT ${COLUMNS} FROM seller WHERE id = ?`);
  const setDisabled = db.prepare('UPDATE seller SET disabled_at = ? WHERE id = ?');
  const endSessions = db.prepare('DELETE FROM session WHERE seller_id = ?');

  function getSeller(id: SellerId): Seller {
    const row = find.get(id);
    if (row) return mapSeller(row);
    throw new AppError('not_found', 'There is no such seller.');
  }

  return {
    createSeller({ name, currency }: NewSeller, at: number): Seller {
      const id = nextId(readInteger(findLastId.get() ?? {}, 'id'), at);
      return mapSeller(insert.get(id, name, currency.code, currency.decimals, at) ?? {});
    },
    /** Changes and logs nothing if it is so already. */
    setSellerDisabled(
      { id, isDisabled }: { readonly id: SellerId; readonly isDisabled: boolean }, at: number,
    ): Seller {
      const seller = getSeller(id);
      if ((seller.disabledAt !== undefined) === isDisabled) return seller;
      setDisabled.run(isDisabled ? at : null, id);
      if (isDisabled) endSessions.run(id);
      const type = isDisabled ? 'seller_disabled' : 'seller_enabled';
      audit.add({ sellerId: id, type, address: '', subject: '' }, at);
      return getSeller(id);
    },
  };
}

export function sellerQueries(db: DatabaseSync) {
  const list = db.prepare(`SELECT ${COLUMNS} FROM seller WHERE id > ? ORDER BY id LIMIT ?`);
  const find = db.prepare(`SELECT ${COLUMNS} FROM seller WHERE id = ?`);
  return {
    findSeller(id: SellerId): Seller | undefined {
      const row = find.get(id);
      return row && mapSeller(row);
    },
    listSellers(query: PageQuery<SellerId>): Seller[] {
      return list.all(query.after ?? 0, query.limit).map(mapSeller);
    },
  };
}

function mapSeller(row: Row): Seller {
  const disabledAt = readOptional(row, 'disabled_at', readInteger);
  return {
    // The primary key of the table of sellers is what a SellerId is.
    id: readInteger(row, 'id') as SellerId,
    name: readText(row, 'name'),
    currency: readCurrency(row),
    position: readInteger(row, 'position'),
    createdAt: readInteger(row, 'created_at'),
    ...(disabledAt !== undefined && { disabledAt }),
  };
}
