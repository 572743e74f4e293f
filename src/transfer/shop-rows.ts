/**
 * Special rules for exports of Shopify, WooCommerce and Magento: rows that are not products, lists
 * of categories, and rows that inherit a name or category from an earlier row. The number and
 * length of remembered categories are limited.
 */
import { IMPORT_PARENTS_LIMIT } from './limits.ts';
import { CATEGORY_LIMIT_CODE_POINTS, SKU_LIMIT_CODE_POINTS } from '../domain/limits.ts';
import { copyText } from '../domain/text.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';
import type { Columns } from './columns.ts';
import { parseTextMark, unescapeFormula } from './csv-cells.ts';

/** The kind of a row that variations name as parent. */
const PARENT = 'variable';
/** Products that are sold only as one of their variants. */
const CONTAINERS: ReadonlySet<string> = new Set([PARENT, 'grouped', 'configurable']);
const ID_PREFIX = 'id:';
/** Long enough to fail the length check. */
const CATEGORY_LIMIT_CHARACTERS = 2 * CATEGORY_LIMIT_CODE_POINTS + 1;
const KEY_LIMIT_CHARACTERS = 2 * SKU_LIMIT_CODE_POINTS;

type Cells = readonly string[];

/** Texts of a row that other rows may inherit. */
type RowTexts = Readonly<Record<'sku' | 'name' | 'category', string>>;

/** Fills in inherited texts for the rows of one file, in file order. */
export class Inheritance {
  #group = { key: '', name: '', category: '' };
  /** The categories of products with variants, by SKU and by id. */
  readonly #parents = { sku: makeCategories(), id: makeCategories() };

  apply(cells: Cells, columns: Columns, { sku, name, category }: RowTexts): Omit<RowTexts, 'sku'> {
    const read = (column: number | undefined): string => cells[column ?? -1] ?? '';
    if (columns.group !== undefined) {
      const key = read(columns.group);
      if (key !== '' && key === this.#group.key) {
        name ||= this.#group.name;
        category ||= this.#group.category;
      }
      this.#group = { key, name, category };
    }
    if (columns.parent === undefined) return { name, category };
    if (kindOf(cells, columns) === PARENT) {
      const copy = copyText(category.slice(0, CATEGORY_LIMIT_CHARACTERS));
      remember(this.#parents.sku, sku, copy);
      remember(this.#parents.id, read(columns.id).trim(), copy);
    } else {
      const parent = read(columns.parent);
      category ||= this.#findCategory(parseTextMark(parent) ?? unescapeFormula(parent).trim());
    }
    return { name, category };
  }

  /** The category of a parent, given by its SKU or as `id:` and its id; blank if unknown. */
  #findCategory(parent: string): string {
    const id = parent.startsWith(ID_PREFIX) ? parent.slice(ID_PREFIX.length).trim() : '';
    return this.#parents.id.get(id) ?? this.#parents.sku.get(parent) ?? '';
  }
}

/** Whether a row only groups the variants of a product. */
export function isContainer(cells: Cells, columns: Columns): boolean {
  return CONTAINERS.has(kindOf(cells, columns));
}

/**
 * Tells the products of a Magento file from the rows that translate one. Exports leave the store
 * view of a product blank, and then have a row for each view with other values. In files without
 * such products, `default` is the product itself; `admin` always is, since it is no store view.
 */
export class StoreViews {
  /** SKUs of rows without a store view. */
  readonly #products = makeCategories();
  #isComplete: boolean;

  /** @param isWhole whether the file has all rows of its products */
  constructor(isWhole = true) {
    this.#isComplete = isWhole;
  }

  /** `unclear`: whether there was such a product is forgotten. Rows come in file order. */
  findRole(storeView = '', sku: string): 'product' | 'translation' | 'unclear' {
    const code = storeView.trim().toLowerCase();
    if (code === '' || code === 'admin') {
      this.#isComplete &&= this.#products.size < IMPORT_PARENTS_LIMIT;
      remember(this.#products, sku, '');
      return 'product';
    }
    if (code !== 'default' || this.#products.has(sku)) return 'translation';
    return this.#isComplete ? 'product' : 'unclear';
  }
}

/** The first category of a list. A backslash escapes a comma within a category. */
export function firstCategory(categories: string, { hasCategoryLists }: Columns): string {
  if (!hasCategoryLists) return categories;
  const [category = ''] = /^(?:\\,|[^,])*/.exec(categories) ?? [];
  return category.replaceAll('\\,', ',').trim();
}

/** The first word of a shop's product type, such as `simple, virtual`. */
function kindOf(cells: Cells, { kind }: Columns): string {
  const [type = ''] = kind === undefined ? [] : (cells[kind] ?? '').toLowerCase().split(',');
  return type.trim();
}

function makeCategories(): BoundedMap<string, string> {
  return new BoundedMap(IMPORT_PARENTS_LIMIT);
}

function remember(categories: Map<string, string>, key: string, category: string): void {
  if (key === '' || key.length > KEY_LIMIT_CHARACTERS) return;
  categories.set(copyText(key), category);
}
