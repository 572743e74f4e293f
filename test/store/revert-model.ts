/**
 * What a revert should do to the catalogue of a model: replays the whole history of each product,
 * forward, where the store follows version chains backwards.
 */
import type { Change } from '../../src/domain/catalogue/change.ts';
import type { RevertedChanges } from '../../src/domain/catalogue/import.ts';
import type { NewProduct, Sku } from '../../src/domain/catalogue/product-fields.ts';
import type { ImportId, ProductId } from '../../src/domain/id.ts';
import type { ImportReference, Actor } from '../../src/store/write.ts';
import type { CatalogueModel } from './stock-model.ts';

type State = NewProduct & { readonly createdAt: number };

const MEMBERS = ['name', 'category', 'sku', 'priceMinor'] as const;

export interface ModelRevert {
  readonly changes: RevertedChanges;
  readonly isForced: boolean;
}

export class RevertModel {
  /** The changes that each revert selects. */
  readonly reverts = new Map<ImportId, RevertedChanges>();

  /** Reverts, and returns `SKU status` of each product, in the order of the outcomes. */
  revert(
    model: CatalogueModel, actor: Actor & ImportReference, { changes, isForced }: ModelRevert,
    now: number,
  ): string[] {
    if (actor.importId !== undefined) this.reverts.set(actor.importId, changes);
    const history = [...model.history];
    const selected = history.filter((change) => isSelected(change, changes));
    const pending = new Set(selected.map(({ productId }) => productId));
    const results: string[] = [];
    const settle = (id: ProductId): void => {
      pending.delete(id);
      const plan = this.#plan(model, history.filter(({ productId }) => productId === id), {
        changes, isForced,
      });
      const current = model.products.get(id);
      let { status } = plan;
      if (plan.to && plan.to.sku !== current?.sku) {
        const holder = model.find({ sku: plan.to.sku });
        if (holder && pending.has(holder.id)) settle(holder.id);
        if (model.find({ sku: plan.to.sku })) status = '(sku_taken)';
      }
      const isWritten = ['restored', 'deleted', 'recreated'].includes(status);
      if (isWritten) model.restore(actor, id, plan.to, now);
      results.push(`${isWritten && plan.to ? plan.to.sku : plan.sku} ${status}`);
    };
    for (const id of [...pending]) if (pending.has(id)) settle(id);
    return results;
  }

  #plan(
    model: CatalogueModel, history: readonly Change[], { changes, isForced }: ModelRevert,
  ): { readonly sku: Sku; readonly status: string; readonly to?: State | undefined } {
    const { id, sku, states } = replay(history);
    const counted = this.#listCounted(history, changes);
    const isCounted = (change: Change) => counted.has(change);
    const first = history.findIndex(isCounted);
    if (first < 0) return { sku, status: 'unchanged' };
    const base = states[first];
    const current = model.products.get(id);
    const newest = history.findLastIndex(isCounted);
    const others = history.slice(first).filter((change) => !isCounted(change));
    const to = base && this.#merge(history, states, first, isCounted);
    const write = (): string => (!to ? 'deleted' : current ? 'restored' : 'recreated');
    if (isSame(current, to)) return { sku, status: 'unchanged' };
    const isUndone = isSame(states[newest + 1], current)
      && history.slice(first, newest).every(isCounted);
    if (others.length === 0 || isForced || isUndone) return { sku, status: write(), to };
    if (others.every(({ type }) => type === 'stock')) return { sku, status: '(moved)' };
    return { sku, status: current ? '(changed)' : '(deleted)' };
  }

  /** The last state, with the members of the base that counted changes changed. */
  #merge(
    history: readonly Change[], states: readonly (State | undefined)[], first: number,
    isCounted: (change: Change) => boolean,
  ): State {
    const existing = (end: number): State => states.slice(0, end + 1)
      .findLast((state) => state !== undefined) as State; // the first change creates one
    const base = existing(first);
    const last = history.at(-1) as Change; // it has at least one
    const isDeleted = last.type === 'deleted';
    const to = { ...existing(history.length) };
    let stock = isDeleted && isCounted(last) ? 0 : to.stock;
    history.forEach((change, index) => {
      if (index < first || !isCounted(change)) return;
      stock -= change.movement.after - change.movement.before;
      const [before, after] = [existing(index), states[index + 1]];
      for (const member of MEMBERS) {
        if (after && after[member] !== before[member]) {
          Object.assign(to, { [member]: base[member] });
        }
      }
    });
    return { ...to, stock: Math.min(Math.max(stock, 0), 1_000_000_000) };
  }

  /** The selected changes and reverts of them, except what other reverts have undone since. */
  #listCounted(history: readonly Change[], changes: RevertedChanges): ReadonlySet<Change> {
    const counted = new Set<Change>();
    const undone = new Map<Change, boolean>();
    const candidates = history.slice(history.findIndex((change) => isSelected(change, changes)));
    for (const revert of candidates.toReversed()) {
      const isCounted = !undone.get(revert) && this.#isIncluded(revert, changes);
      if (isCounted) counted.add(revert);
      const reverted = this.reverts.get(revert.importId as ImportId);
      if (!reverted || undone.get(revert)) continue;
      for (const change of candidates) {
        if (change.position >= revert.position || undone.has(change)) continue;
        if (this.#isIncluded(change, reverted)) undone.set(change, !isCounted);
      }
    }
    const last = candidates.findLast((change) => counted.has(change));
    const newest = this.reverts.get(last?.importId as ImportId);
    const isRepeated = newest && isWithin(newest, changes) && isWithin(changes, newest);
    return isRepeated ? new Set() : counted;
  }

  #isIncluded(change: Change, changes: RevertedChanges): boolean {
    if (isSelected(change, changes)) return true;
    let { importId } = change;
    while (importId !== undefined) {
      const reverted = this.reverts.get(importId);
      if (!reverted) return false;
      if (isWithin(reverted, changes)) return true;
      importId = reverted.importId;
    }
    return false;
  }
}

function isSelected(change: Change, { importId, after, upTo, keyId, source }: RevertedChanges) {
  return change.position > after && change.position <= upTo
    && [[importId, change.importId], [keyId, change.keyId], [source, change.movement.source]]
      .every(([wanted, value]) => wanted === undefined || wanted === value);
}

function isWithin(one: RevertedChanges, all: RevertedChanges): boolean {
  if (all.importId !== undefined) return one.importId === all.importId;
  return one.after >= all.after && one.upTo <= all.upTo
    && (['keyId', 'source'] as const)
      .every((member) => all[member] === undefined || one[member] === all[member]);
}

/** The state before each change, and after the last. */
function replay(history: readonly Change[]) {
  const states: (State | undefined)[] = [undefined];
  const last = history.at(-1) as Change; // it has at least one
  for (const { type, product, movement } of history) {
    const before = states.at(-1);
    if (type === 'deleted') states.push(undefined);
    else if (product === undefined) states.push(before && { ...before, stock: movement.after });
    else {
      const { name, category, sku, price, stock, created_at: at } = JSON.parse(product);
      const createdAt = Date.parse(at);
      states.push({ name, category, sku, stock, createdAt, priceMinor: Math.round(price * 100) });
    }
  }
  return { id: last.productId, sku: last.sku, states };
}

function isSame(one: State | undefined, other: State | undefined): boolean {
  if (!one || !other) return one === other;
  return [...MEMBERS, 'stock' as const].every((member) => one[member] === other[member]);
}
