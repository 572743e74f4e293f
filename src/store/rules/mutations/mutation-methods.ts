/**
 * The methods of the ports that run one mutation each: what they pass on, and the names under which
 * their input is hashed.
 */
import type { CatalogueStore } from '../../catalogue-store.ts';
import type { AccessStore } from '../../access-store.ts';
import type { KeyMutations } from '../../sql/access/keys.ts';
import type { SharedMutations } from '../../sql/shared.ts';
import type { Store } from '../../store.ts';
import type { WriteContext } from '../../write.ts';
import type { IdempotencyScope } from '../idempotency.ts';
import { decodeResults } from '../stock-outcome.ts';
import type { editMutations } from './edit-mutations.ts';
import type { WriteActor } from './import-records.ts';
import type { productMutations } from './product-mutations.ts';
import type { stockMutations } from './stock-mutations.ts';

/** Runs a mutation of so many rows, by default one, or finds its recorded outcome. */
export type RunMutation<Mutations extends Record<keyof Mutations, (...args: never[]) => unknown>> =
  <Name extends keyof Mutations>(
    name: Name, input: Parameters<Mutations[Name]>[0], idempotency?: IdempotencyScope,
    rows?: number,
  ) => Promise<Awaited<ReturnType<Mutations[Name]>>>;

/** The mutations that take their methods' arguments. */
const ARGUMENT_MUTATIONS = [
  'createSeller', 'setSellerDisabled', 'setShopSettings', 'revokeKey', 'noteKeyUse',
  'createInvitation', 'revokeInvitation', 'register', 'removeAccount', 'setRole', 'setAccountName',
  'setAccountSettings', 'setEmail', 'setPassword', 'resetPassword', 'disableTotp', 'resetTotp',
  'setRecoveryCodes', 'takeTotpStep', 'takeRecoveryCode', 'createSession', 'noteSessionSeen',
  'endSessions', 'addPasskey', 'renamePasskey', 'removePasskey', 'setPasswordOff',
  'notePasskeyUse', 'createPasskeySession', 'noteAuditEvent', 'keepColumnMapping',
  'saveFilter', 'deleteFilter',
] as const satisfies readonly (keyof SharedMutations)[];

type ArgumentName = (typeof ARGUMENT_MUTATIONS)[number];

export function argumentMethods(run: RunMutation<SharedMutations>): Pick<Store, ArgumentName> {
  const methods = ARGUMENT_MUTATIONS.map((name) =>
    // The cast: the arguments of a method are the input of its mutation (`MutationsOf`).
    [name, (...args: unknown[]) => run(name, args as Parameters<SharedMutations[typeof name]>[0])]);
  // The cast: and the result of a method is the outcome.
  return Object.fromEntries(methods) as Pick<Store, ArgumentName>;
}

type CatalogueMutations = ReturnType<typeof productMutations> & ReturnType<typeof editMutations>
  & ReturnType<typeof stockMutations>;

type CatalogueMethods = Pick<CatalogueStore,
  | 'createProduct' | 'putProduct' | 'patchProduct' | 'deleteProduct' | 'importProducts'
  | 'editProducts' | 'syncStock' | 'zeroStock'
>;

export function catalogueMethods(run: RunMutation<CatalogueMutations>): CatalogueMethods {
  return {
    createProduct: (write, product) =>
      run('createProduct', { actor: actorOf(write), product }, scopeOf(write)),
    putProduct: (write, product, precondition) =>
      run('putProduct', { actor: actorOf(write), product, precondition }, scopeOf(write)),
    patchProduct: (write, target, patch, precondition) => run(
      'patchProduct', { actor: actorOf(write), target, patch, precondition }, scopeOf(write),
    ),
    deleteProduct: (write, target, precondition) =>
      run('deleteProduct', { actor: actorOf(write), target, precondition }, scopeOf(write)),
    importProducts: (write, products, mode) => run(
      'importProducts', { actor: actorOf(write), products, mode }, scopeOf(write),
      products.length,
    ),
    editProducts: (write, edits, reason) => run(
      'editProducts', { actor: actorOf(write), edits, reason }, scopeOf(write), edits.length,
    ),
    async syncStock(write, sync, isDryRun) {
      const { changes } = sync;
      const synced = await run(
        'syncStock', { actor: actorOf(write), sync, isDryRun }, scopeOf(write), changes.length,
      );
      return { ...synced, results: decodeResults(synced.results, changes) };
    },
    zeroStock: (write, { source, reason, zeroLimitPercent, products, total }) => run(
      'zeroStock',
      { actor: actorOf(write), source, reason, zeroLimitPercent, generated: { products, total } },
      scopeOf(write), products.length,
    ),
  };
}

export function keyMethods(
  run: RunMutation<Pick<KeyMutations, 'createKey' | 'rotateKey'>>,
): Pick<AccessStore, 'createKey' | 'rotateKey'> {
  return {
    createKey: (
      sellerId, secret, key, { actorName, accountId, address = '', idempotency } = {},
    ) => run(
      'createKey', { sellerId, secret, key, address, actor: { actorName, accountId } },
      scopeOf({ sellerId, idempotency }),
    ),
    rotateKey: (
      key, secret, overlapMs, { actorName, accountId, address = '', idempotency } = {},
    ) => run(
      'rotateKey', { key, secret, overlapMs, address, actor: { actorName, accountId } },
      scopeOf({ sellerId: key.sellerId, idempotency }),
    ),
  };
}

/** Inputs are hashed and may be copied to another thread: only what is needed. */
function actorOf({ sellerId, keyId, actorName, import: part }: WriteContext): WriteActor {
  return { sellerId, keyId, actorName, import: part };
}

export function scopeOf(
  { sellerId, idempotency }: Omit<WriteContext, 'keyId'>,
): IdempotencyScope | undefined {
  return idempotency && { sellerId, ...idempotency };
}
