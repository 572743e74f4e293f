/**
 * The categories of the products of a file that have variants, for those variants to inherit. Only
 * so many are remembered, and no more of each than shows that it is too long.
 */
import { IMPORT_PARENTS_LIMIT } from './limits.ts';
import { CATEGORY_LIMIT_CODE_POINTS, SKU_LIMIT_CODE_POINTS } from '../domain/limits.ts';
import { copyText } from '../domain/text.ts';

const ID_PREFIX = 'id:';
const CATEGORY_LIMIT_CHARACTERS = 2 * CATEGORY_LIMIT_CODE_POINTS + 1;
const KEY_LIMIT_CHARACTERS = 2 * SKU_LIMIT_CODE_POINTS;

export class ParentCategories {
  readonly #bySku = new Map<string, string>();
  readonly #byId = new Map<string, string>();

  add(sku: string, id: string, category: string): void {
    const kept = copyText(category.slice(0, CATEGORY_LIMIT_CHARACTERS));
    remember(this.#bySku, sku, kept);
    remember(this.#byId, id, kept);
  }

  /** The category of a parent, given as its SKU or as `id:` and its id; blank if it is unknown. */
  find(parent: string): string {
    const byId = parent.startsWith(ID_PREFIX)
      ? this.#byId.get(parent.slice(ID_PREFIX.length).trim()) : undefined;
    return byId ?? this.#bySku.get(parent) ?? '';
  }
}

function remember(categories: Map<string, string>, key: string, category: string): void {
  if (key === '' || key.length > KEY_LIMIT_CHARACTERS) return;
  categories.delete(key);
  categories.set(copyText(key), category);
  if (categories.size <= IMPORT_PARENTS_LIMIT) return;
  for (const oldest of categories.keys()) {
    categories.delete(oldest);
    return;
  }
}
