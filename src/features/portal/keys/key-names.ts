/** Names of API keys, for pages that list changes and requests. */
import {
  formatKeyId, type KeyId, PORTAL_KEY_ID, PROGRAM_KEY_ID, type SellerId,
} from '../../../domain/id.ts';
import type { AccessStore } from '../../../store/access-store.ts';

/** Names by key id; an unknown key's name is its formatted id. Looks up each key once. */
export async function readKeyNames(
  store: AccessStore, sellerId: SellerId, keyIds: readonly KeyId[],
): Promise<ReadonlyMap<KeyId, string>> {
  const names = new Map<KeyId, string>([[PORTAL_KEY_ID, 'Portal'], [PROGRAM_KEY_ID, 'Program']]);
  for (const keyId of keyIds) {
    if (names.has(keyId)) continue;
    const key = await store.findKey({ sellerId, keyId });
    names.set(keyId, key?.name ?? formatKeyId({ sellerId, keyId }));
  }
  return names;
}
