/** The page of a product, for links from other pages. */
import { formatProductId } from '../../../domain/id.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';

/** Path below `/portal`. */
export function pathOf({ sellerId, id }: Pick<Product, 'sellerId' | 'id'>): string {
  return `/products/${formatProductId(sellerId, id)}`;
}
