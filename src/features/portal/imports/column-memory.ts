/**
 * Remembers the columns that a seller chose, for the next file with the same column names, in any
 * order and case. Which columns are recognized by name is not remembered.
 */
import { createHash } from 'node:crypto';
import type { SellerId } from '../../../domain/id.ts';
import type { AccountStore } from '../../../store/account-store.ts';
import { normalizeName } from '../../../transfer/header.ts';
import type { MemberValues } from './column-fields.ts';
import type { FileHead } from './uploaded-file.ts';

type Memory = Pick<AccountStore, 'findColumnMapping' | 'keepColumnMapping'>;

/** A file, and what it is read as. */
interface RememberedFile {
  readonly kind: FileHead['kind'];
  readonly head: FileHead;
}

/** The columns chosen for the last imported file with these column names; empty if none were. */
export async function recallColumns<Member extends string>(
  store: Memory, sellerId: SellerId, file: RememberedFile, members: readonly Member[],
): Promise<MemberValues<Member>> {
  const { header } = file.head;
  const columns = await store.findColumnMapping(sellerId, hashHeader(file)) ?? {};
  return members.flatMap((member): MemberValues<Member> => {
    const chosen = columns[member];
    const name = header.find((other) => normalizeName(other) === chosen);
    return name === undefined ? [] : [[member, name]];
  });
}

/**
 * Call it when an import starts: only that shows that the choice was right. No choice removes an
 * earlier one. NDJSON has no columns.
 */
export async function rememberColumns(
  store: Memory, sellerId: SellerId, file: RememberedFile, map: MemberValues<string>,
): Promise<void> {
  if (file.head.format !== 'csv') return;
  const columns = map.map(([member, name]) => [member, normalizeName(name)] as const);
  await store.keepColumnMapping(sellerId, hashHeader(file), Object.fromEntries(columns));
}

/** SHA-256 of the set of column names, in hexadecimal digits. Stored: never change it. */
function hashHeader({ kind, head: { header } }: RememberedFile): string {
  const names = [...new Set(header.map(normalizeName))].sort();
  const content = kind === 'stock' ? { stock: names } : names;
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
