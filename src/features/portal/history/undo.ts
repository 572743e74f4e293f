/**
 * What a form has just changed, for the next page: it says so, and offers to undo it. The page
 * reads the change from the history, so a link cannot make it say anything else. Undoing is a
 * revert of that one change, which only succeeds if the product has not changed since.
 */
import type { Change } from '../../../domain/catalogue/change.ts';
import { parseSnapshot } from '../../../domain/catalogue/product.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { AppError, undefinedIf } from '../../../domain/error.ts';
import { PORTAL_KEY_ID, type ProductId } from '../../../domain/id.ts';
import { findPosition, toRevision } from '../../../domain/revision.ts';
import { capitalize } from '../../../domain/text.ts';
import type { Reply } from '../../../http/response/reply.ts';
import {
  REVERT_CONFLICTS, type RevertConflict, type RevertedProduct,
} from '../../../store/revert-store.ts';
import { postForm } from '../forms/fields.ts';
import { type Form, nonceField, toWriteContext } from '../forms/form.ts';
import { toast } from '../html/elements.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { UNDO_LIFE_MS } from '../limits.ts';
import { pathOf } from '../products/product-path.ts';
import { hasPage, type PageRequest, type Portal, type Submit } from '../route.ts';
import { describeEffects } from './change-description.ts';

const NAME_BYTES = 120;
const DONE = { created: 'created', updated: 'saved', deleted: 'deleted' } as const;

/** The query of the page after a change. */
export function didChange(
  { generation }: Pick<PageRequest, 'generation'>, position: number,
): URLSearchParams {
  return new URLSearchParams({ change: String(toRevision(generation, position)) });
}

/** Says what the change that the query names did; nothing if it is not a recent one of a page. */
export async function changeToast(request: PageRequest, portal: Portal): Promise<Content> {
  const change = await findRecentChange(request, portal, request.query.get('change'));
  if (!change) return undefined;
  return toast(await describeDone(request, portal, change),
    request.may('editor') && undoForm(request, change, 'Undo'));
}

function undoForm(request: PageRequest, { position }: Change, label: string): Html {
  const revision = toRevision(request.generation, position);
  return postForm(request, request.link(`/changes/${revision}/undo`), html`${nonceField()}
    <button class="small">${label}</button>`, '');
}

/** POST /portal/changes/{position}/undo: 303, 400, 404, 409 */
export const undoChange: Submit = async (request, portal, form) => {
  const change = await findRecentChange(request, portal, request.parameters['position'] ?? '');
  if (!change) {
    throw new AppError('not_found', 'There is nothing to undo. Find the change under Changes.');
  }
  const [outcome] = await revert(request, portal, change, form);
  const product = await portal.store.findProduct(change.sellerId, { id: change.productId });
  if (outcome?.status === 'conflict') {
    const { conflict = 'changed' } = outcome;
    return renderConflict(request, portal, change, { conflict, product });
  }
  const path = product ? pathOf(product) : '/products';
  const { position } = product ?? { position: await findDeletion(request, portal, change) };
  return redirect(request.link(path, didChange(request, position)));
};

/** The position of a product's deletion; 0 without one. */
export async function findDeletion(
  { account: { sellerId } }: PageRequest, { store }: Portal,
  { productId }: { readonly productId: ProductId },
): Promise<number> {
  const { movements: [deletion] } = await store.listMovements(sellerId, {
    filter: { productId, types: ['deleted'] }, after: 0, upTo: Number.MAX_SAFE_INTEGER,
    isDescending: true, limit: 1,
  });
  return deletion?.position ?? 0;
}

/** A change that the portal made within the time to undo it. */
async function findRecentChange(
  { account: { sellerId }, position: last, generation }: PageRequest, { store, clock }: Portal,
  text: string,
): Promise<Change | undefined> {
  const position = findPosition(text, generation) ?? 0;
  if (position === 0 || position > last) return undefined;
  const page = await undefinedIf(
    'history_pruned', store.listChanges(sellerId, { after: position - 1, limit: 1 }),
  );
  const change = page?.changes[0];
  const isRecent = change?.keyId === PORTAL_KEY_ID && clock() - change.at < UNDO_LIFE_MS;
  return isRecent ? change : undefined;
}

async function describeDone(
  request: PageRequest, { store }: Portal, change: Change,
): Promise<Html> {
  const { account: { currency }, format } = request;
  const { sellerId, position, productId, type, movement, product, sku } = change;
  const before = type === 'updated' || type === 'stock'
    ? (await store.findPreviousSnapshots(sellerId, [position])).get(position) : undefined;
  const snapshot = product ?? before;
  const { name = sku } = snapshot === undefined
    ? await store.findProduct(sellerId, { id: productId }) ?? {}
    : parseSnapshot(snapshot, currency);
  const label = html`<bdi>${shorten(name, NAME_BYTES)}</bdi>`;
  if (type === 'stock') {
    return html`<p>Stock of ${label} set to ${format.number(movement.after)}
      (${format.delta(movement.after - movement.before)}).</p>`;
  }
  const effects = type === 'updated' && before !== undefined
    ? describeEffects(request, change, before) : [];
  return html`<p>${label} ${DONE[type]}.${
    effects.map((effect) => html` <span>${effect}.</span>`)}</p>`;
}

/** Returns the outcome of the product; nothing if the form was submitted before. */
async function revert(
  request: PageRequest, { store }: Portal, { position }: Change, form: Form,
): Promise<readonly RevertedProduct[]> {
  using started = await store.startRevert(toWriteContext(request, form), {
    selection: { after: position - 1, upTo: position }, isForced: false, isDryRun: false,
  });
  const products = await started.next();
  await started.finish();
  return products;
}

function renderConflict(
  request: PageRequest, portal: Portal, change: Change,
  { conflict, product }: { conflict: RevertConflict; product: Product | undefined },
): Reply {
  const { link } = request;
  const isTaken = conflict === 'sku_taken';
  return renderPage(request, portal, {
    title: 'Not undone', status: 409,
    content: html`<p>${capitalize(REVERT_CONFLICTS[conflict])}, so nothing was undone.${
      isTaken && ' Rename or delete that product, then undo again.'}</p>
      <div class="actions">${isTaken && undoForm(request, change, 'Undo again')}
        ${product && html`<a class="button" href="${link(pathOf(product))}">View the product</a>`}
        ${hasPage(portal, '/changes') && html`
          <a class="button" href="${link('/changes')}">View changes</a>`}</div>`,
  });
}
