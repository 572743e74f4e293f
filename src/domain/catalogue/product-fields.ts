/** The members of a product as it is answered, in their order, and products with some of them. */
import { fromMinorUnits } from './currency.ts';
import { formatProductId } from '../id.ts';
import type { Product } from './product.ts';
import { formatTime } from '../time.ts';

export const PRODUCT_FIELDS = [
  'id', 'name', 'category', 'sku', 'price', 'currency', 'stock', 'position', 'created_at',
  'updated_at',
] as const;

export type ProductField = (typeof PRODUCT_FIELDS)[number];

/** The value that a client reads. */
export function readField(product: Product, field: ProductField): string | number {
  switch (field) {
    case 'id': return formatProductId(product.sellerId, product.id);
    case 'price': return fromMinorUnits(product.priceMinor, product.currency);
    case 'currency': return product.currency.code;
    case 'created_at': return formatTime(product.createdAt);
    case 'updated_at': return formatTime(product.updatedAt);
    default: return product[field];
  }
}

/** The JSON text of a product with these members alone. */
export function formatFields(product: Product, fields: readonly ProductField[]): string {
  const members = fields.map((field) => `"${field}":${JSON.stringify(readField(product, field))}`);
  return `{${members.join(',')}}`;
}
