/** Where the page of a product is. */
import { formatProductId } from '../../../domain/id.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';

/** For links, as below `/portal`. */
export function pathOf({ sellerId, id }: Pick<Product, 'sellerId' | 'id'>): string {
  return `/products/${formatProductId(sellerId, id)}`;
}
