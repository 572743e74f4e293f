/** The store's methods that run one mutation each: what they pass to it. */
import type { Requester } from '../../../domain/access/audit.ts';
import type { Store } from '../../store.ts';
import type { WriteContext } from '../../write.ts';
import { decodeResults } from '../stock-outcome.ts';
import type { WriteActor } from './import-records.ts';
import {
  familyOf, type MutationInput, type MutationName, MUTATIONS, type PassingName, type RunMutation,
} from './registry.ts';

export function mutationMethods(run: RunMutation) {
  return {
    ...passingMethods(run),
    async syncStock(write, sync, isDryRun) {
      const input = { actor: actorOf('syncStock', write), sync, isDryRun };
      const synced = await run('syncStock', input, write.idempotency);
      return { ...synced, results: decodeResults(synced.results, sync.changes) };
    },
    zeroStock(write, { source, reason, zeroLimitPercent, ...generated }) {
      const actor = actorOf('zeroStock', write);
      const input = { actor, source, reason, zeroLimitPercent, generated };
      return run('zeroStock', input, write.idempotency);
    },
    createKey: (sellerId, secret, key, by = {}) =>
      run('createKey', { sellerId, secret, key, ...splitRequester(by) }, by.idempotency),
    rotateKey: (key, secret, overlapMs, by = {}) =>
      run('rotateKey', { key, secret, overlapMs, ...splitRequester(by) }, by.idempotency),
  } satisfies Partial<Store>;
}

function splitRequester({ actorName, accountId, address = '' }: Requester) {
  return { address, actor: { actorName, accountId } };
}

function passingMethods(run: RunMutation): Pick<Store, PassingName> {
  const methods = Object.entries(MUTATIONS).flatMap(([key, definition]) => {
    if (!('passes' in definition)) return [];
    // The cast: the keys of the registry are the names.
    const name = key as PassingName;
    const { passes } = definition;
    // The casts: the registry says that these are the input of the mutation.
    if (passes === 'arguments') {
      return [[name, (...args: unknown[]) => run(name, args as MutationInput<typeof name>)]];
    }
    return [[name, (write: WriteContext, ...args: unknown[]) => {
      const members = passes.map((member, index) => [member, args[index]]);
      const input = { actor: actorOf(name, write), ...Object.fromEntries(members) };
      return run(name, input as MutationInput<typeof name>, write.idempotency);
    }]];
  });
  // The cast: a method has the name, the arguments and the outcome of its mutation.
  return Object.fromEntries(methods) as Pick<Store, PassingName>;
}

/**
 * Inputs may be copied to another thread: only what is needed. Of webhooks, that includes the
 * address, for the audit log, and the account, whose role is checked.
 */
export function actorOf(name: MutationName, write: WriteContext): WriteActor {
  const { sellerId, keyId, actorName, generation, accountId, address = '', review } = write;
  return familyOf(name) === 'webhooks' ? { sellerId, keyId, actorName, accountId, address }
    : { sellerId, keyId, actorName, generation, import: write.import, review };
}
