/** Who made changes, as their seller calls them. */
import { formatKeyId, type KeyId, PORTAL_KEY_ID, type SellerId } from '../../../domain/id.ts';
import type { AccessStore } from '../../../store/access-store.ts';

/** The names of these keys; of one that is not there, its id. Each distinct one is looked up. */
export async function readKeyNames(
  store: AccessStore, sellerId: SellerId, keyIds: readonly KeyId[],
): Promise<ReadonlyMap<KeyId, string>> {
  const names = new Map<KeyId, string>();
  for (const keyId of new Set(keyIds)) {
    names.set(keyId, keyId === PORTAL_KEY_ID ? 'Portal' : await readName(store, sellerId, keyId));
  }
  return names;
}

async function readName(store: AccessStore, sellerId: SellerId, keyId: KeyId): Promise<string> {
  const key = await store.findKey({ sellerId, keyId });
  return key?.name ?? formatKeyId({ sellerId, keyId });
}
