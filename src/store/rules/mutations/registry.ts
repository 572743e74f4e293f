/**
 * The registry of mutations: whose rows each one changes and how many, with which others it may be
 * written, and what its method passes on. Names and members of inputs are hashed (see
 * rules/idempotency.ts): they must never change.
 */
import type { SellerId } from '../../../domain/id.ts';
import type { SharedMutations } from '../../sql/shared.ts';
import { PRUNE_STEP_CHANGES } from '../../limits.ts';
import type { Idempotency } from '../../write.ts';
import type { IdempotencyScope } from '../idempotency.ts';
import type { CatalogueMutations } from './catalogue-mutations.ts';

export type Mutations = SharedMutations & CatalogueMutations;
export type MutationName = keyof Mutations;
export type MutationInput<Name extends MutationName> = Parameters<Mutations[Name]>[0];
export type MutationOutput<Name extends MutationName> = Awaited<ReturnType<Mutations[Name]>>;

/** Runs a mutation, or finds its recorded outcome. Resolves when it is durable. */
export type RunMutation = <Name extends MutationName>(
  name: Name, input: MutationInput<Name>, idempotency?: Idempotency,
) => Promise<MutationOutput<Name>>;

/** The rows of a seller that mutations change in common; no other mutations need an order. */
export type Family = 'products' | 'stock' | 'webhooks';

interface Definition<Input> {
  readonly family?: Family;
  /** Whether it sees rows that earlier mutations of its family have not written yet. */
  readonly seesUnwritten?: boolean;
  /** Whose rows it changes; undefined if it creates the seller, or if they are of several. */
  readonly sellerOf: (input: Input) => SellerId | undefined;
  /** How many rows it writes. Default: one. */
  readonly rowsOf?: (input: Input) => number;
  /**
   * What the store's method of the same name passes on: its arguments, or those after the context
   * of the write as these members. Undefined if it does more.
   */
  readonly passes?: 'arguments' | readonly string[];
}

type Arguments<First> = readonly [First, ...unknown[]];
interface OfSeller {
  readonly sellerId: SellerId;
}

const PASSED = { passes: 'arguments' } as const;
const ofNone = { ...PASSED, sellerOf: () => undefined };
const ofSeller = { ...PASSED, sellerOf: ([sellerId]: Arguments<SellerId>) => sellerId };
/** The first argument names an account, a key or a webhook. */
const ofFirst = { ...PASSED, sellerOf: ([{ sellerId }]: Arguments<OfSeller>) => sellerId };
const ofInput = { sellerOf: ({ sellerId }: OfSeller) => sellerId };
const ofActor = { sellerOf: ({ actor }: { readonly actor: OfSeller }) => actor.sellerId };
const product = { ...ofActor, family: 'products', seesUnwritten: true } as const;
const products = { ...ofActor, family: 'products' } as const;
const stock = { ...ofActor, family: 'stock' } as const;
const webhook = { ...ofActor, family: 'webhooks' } as const;
const delivery = { ...ofFirst, family: 'webhooks' } as const;

export const MUTATIONS = {
  createProduct: { ...product, passes: ['product'] },
  putProduct: { ...product, passes: ['product', 'precondition'] },
  patchProduct: { ...product, passes: ['target', 'patch', 'precondition'] },
  deleteProduct: { ...product, passes: ['target', 'precondition'] },
  importProducts: {
    ...product, passes: ['products', 'mode'], rowsOf: (input) => input.products.length,
  },
  editProducts: { ...products, passes: ['edits', 'reason'], rowsOf: ({ edits }) => edits.length },
  revertProducts: { ...products, rowsOf: ({ generated }) => generated.products.length },
  syncStock: { ...stock, seesUnwritten: true, rowsOf: ({ sync }) => sync.changes.length },
  zeroStock: { ...stock, rowsOf: ({ generated }) => generated.products.length },

  createWebhook: webhook,
  patchWebhook: { ...webhook, passes: ['id', 'patch'] },
  deleteWebhook: { ...webhook, passes: ['id'] },
  retryWebhook: { ...webhook, passes: ['id'] },
  replayWebhook: { ...webhook, passes: ['id', 'position'] },
  rotateWebhookSecret: webhook,
  beginWebhookMessage: delivery, endWebhookAttempt: delivery, noteWebhookAttempt: delivery,
  disableWebhook: delivery,

  createKey: ofInput,
  rotateKey: { sellerOf: ({ key }) => key.sellerId },
  pruneHistory: { ...ofInput, rowsOf: ({ after, upTo }) => upTo - after },
  pruneIdempotency: ofInput,
  deleteSeller: { sellerOf: ofSeller.sellerOf, rowsOf: () => PRUNE_STEP_CHANGES },
  enableTotp: { sellerOf: ofFirst.sellerOf },

  keepLivedTime: { sellerOf: () => undefined },
  createSeller: ofNone, register: ofNone,
  noteUsage: { ...ofNone, rowsOf: ([usage]) => usage.length },
  noteAuditEvent: { ...PASSED, sellerOf: ([event]) => event.sellerId },
  createInvitation: { ...PASSED, sellerOf: ([, invitation]) => invitation.sellerId },
  updateSeller: ofSeller, setSellerDisabled: ofSeller, setShopSettings: ofSeller,
  revokeInvitation: ofSeller,
  keepColumnMapping: ofSeller, saveFilter: ofSeller, deleteFilter: ofSeller,
  revokeKey: ofFirst, noteKeyUse: ofFirst, removeAccount: ofFirst, setRole: ofFirst,
  setAccountName: ofFirst, setAccountSettings: ofFirst, setEmail: ofFirst, setPassword: ofFirst,
  resetPassword: ofFirst, disableTotp: ofFirst, resetTotp: ofFirst, setRecoveryCodes: ofFirst,
  takeTotpStep: ofFirst, takeRecoveryCode: ofFirst, createSession: ofFirst,
  noteSessionSeen: ofFirst, endSessions: ofFirst, addPasskey: ofFirst, renamePasskey: ofFirst,
  removePasskey: ofFirst, setPasswordOff: ofFirst, notePasskeyUse: ofFirst,
  createPasskeySession: ofFirst,
} as const satisfies { readonly [Name in MutationName]: Definition<MutationInput<Name>> };

/** The mutations whose methods only pass something on. */
export type PassingName = { [Name in MutationName]:
  (typeof MUTATIONS)[Name] extends { readonly passes: unknown } ? Name : never }[MutationName];

/** What an adapter needs to know of a call. */
export function describeCall<Name extends MutationName>(
  name: Name, input: MutationInput<Name>, idempotency: Idempotency | undefined,
) {
  const { sellerOf, rowsOf } = definitionOf(name);
  const sellerId = sellerOf(input);
  const scope: IdempotencyScope | undefined = idempotency && sellerId !== undefined
    ? { sellerId, ...idempotency } : undefined;
  return { sellerId, scope, rows: rowsOf?.(input) ?? 1 };
}

export function familyOf(name: MutationName): Family | undefined {
  return definitionOf(name).family;
}

/** The family whose rows a mutation sees before they are written. */
export function unwrittenFamilyOf(name: MutationName): Family | undefined {
  const { family, seesUnwritten } = definitionOf(name);
  return seesUnwritten ? family : undefined;
}

function definitionOf<Name extends MutationName>(name: Name): Definition<MutationInput<Name>> {
  // The cast: a definition is about the input of its mutation.
  return MUTATIONS[name] as Definition<MutationInput<Name>>;
}
