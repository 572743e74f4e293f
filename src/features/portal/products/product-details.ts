/** The optional fields on a product's page, and the form that archives or restores it. */
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { readMetadata } from '../../../domain/catalogue/metadata.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { didChange } from '../history/undo.ts';
import { postForm } from '../forms/fields.ts';
import { type Form, hiddenField, nonceField, toWriteContext } from '../forms/form.ts';
import type { Facts } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { redirect } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { getProduct, pathOf } from './product-path.ts';

/** Those that have a value. */
export function listOptionalFacts(
  { format }: PageRequest, { barcode, description, metadata, lowStock }: Product,
): Facts {
  const details: readonly (readonly [string, Content])[] = [
    ['Barcode', barcode ?? ''],
    ['Low-stock threshold', typeof lowStock === 'number' && format.number(lowStock)],
    ['Description', description ? html`<bdi class="paragraphs">${description}</bdi>` : ''],
    ['Metadata', metadata ? html`<ul class="lines">${[...readMetadata(metadata)].map((pair) =>
      html`<li><bdi>${pair[0]}</bdi>: <bdi>${pair[1] ?? ''}</bdi></li>`)}</ul>` : ''],
  ];
  return details.filter(([, content]) => content);
}

export function archivedTag({ archived }: Product): Content {
  return archived ? html`<span class="tag">Archived</span>` : undefined;
}

/** @param others More actions beside the button. */
export function archiveForm(request: PageRequest, product: Product, others: Html): Html {
  const [to, label] = product.archived ? ['restored', 'Restore'] : ['archived', 'Archive'];
  return postForm(request, request.link(`${pathOf(product)}/archive`), html`${nonceField()}
    ${hiddenField('to', to)}<button>${label}</button> ${others}`, 'actions');
}

/** POST /portal/products/{id}/archive: 303, 400, 404 */
export async function archiveProduct(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { sellerId, id } = await getProduct(request, portal);
  const patch = { archived: form.get('to') === 'archived' || null };
  const write = toWriteContext(request, form);
  const { position } = await portal.store.patchProduct(write, { id }, patch, {});
  return redirect(request.link(pathOf({ sellerId, id }), didChange(position)));
}
