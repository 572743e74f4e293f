/** A second key of a seller. */
import {
  generateApiKey, type NewApiKey, parseNewApiKey, toStoredSecret,
} from '../../src/domain/access/api-key.ts';
import type { TestSeller, TestServer } from '../support/server.ts';

type Members = Partial<Omit<NewApiKey, 'scopes'>> & { readonly scopes?: readonly string[] };

/** Header fields with it. Default: all scopes. */
export async function makeKey(
  { store }: Pick<TestServer, 'store'>, { sellerId }: Pick<TestSeller, 'sellerId'>,
  members: Members = {},
): Promise<{ readonly 'x-api-key': string }> {
  const key = generateApiKey();
  await store.createKey(sellerId, toStoredSecret(key), parseNewApiKey({
    name: 'second', scopes: [], addressRanges: [], expiresAt: undefined, ...members,
  }));
  return { 'x-api-key': key };
}
