/** A product whose texts have the maximum length, in characters of four bytes. */
import { makeProduct } from '../support/server.ts';

const long = (count: number): string => '🫖'.repeat(count);

export function makeLongProduct(sku: string) {
  return {
    ...makeProduct(), sku, name: long(200), category: long(100), description: long(5_000),
    metadata: Object.fromEntries(Array.from({ length: 20 }, (_, index) =>
      [`${long(38)}${index + 10}`, long(500)])),
  };
}
