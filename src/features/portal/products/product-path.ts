/** Paths of product pages, and the product that a path names. */
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { AppError } from '../../../domain/error.ts';
import { formatProductId, parseProductId } from '../../../domain/id.ts';
import type { PageRequest, Portal } from '../route.ts';

/** Path below `/portal`. */
export function pathOf({ sellerId, id }: Pick<Product, 'sellerId' | 'id'>): string {
  return `/products/${formatProductId(sellerId, id)}`;
}

/** The product in the path; undefined if this seller has no such product. */
export async function findProduct(
  { account: { sellerId }, parameters }: PageRequest, { store }: Portal,
): Promise<Product | undefined> {
  const id = parseProductId(sellerId, parameters['id'] ?? '');
  return id === undefined ? undefined : store.findProduct(sellerId, { id });
}

/** @throws AppError `not_found` */
export async function getProduct(request: PageRequest, portal: Portal): Promise<Product> {
  const product = await findProduct(request, portal);
  if (product) return product;
  throw noProduct();
}

export function noProduct(): AppError {
  return new AppError('not_found', 'You have no product with this id.');
}
