/**
 * Finds the members of a product among the columns of a CSV file, whatever their case and order: of
 * our own export, of the product exports of the shops below, or as `map` names them.
 * Shopify: each variant has a row; those after a product's first leave Title and Type blank, and
 * rows that only add an image have neither SKU nor price. WooCommerce: prices have the decimal mark
 * of the shop and no other, a comma within a category is escaped by a backslash, `variable` and
 * `grouped` rows stand for their variants, which name the `variable` one as their parent.
 * Magento 2: likewise `configurable` and `grouped` ones; a row with a store view only translates
 * the row above.
 */
import { IMPORT_IGNORED_COLUMNS_LIMIT } from './limits.ts';
import { AppError, type Issue } from '../domain/error.ts';
import {
  PRODUCT_FIELD_NAMES, SENT_FIELDS, type SentField, type SentFieldName, type ShopSystem,
} from '../domain/catalogue/product-fields.ts';
import { invalidQuery } from '../http/request/query.ts';

export const MEMBERS: readonly Member[] = [...SENT_FIELDS.map(({ name }) => name), 'currency'];
export type Member = SentFieldName | 'currency';

/** Fields that a file may leave open: no SKU and no currency is good for all rows. */
export type Defaultable = Exclude<SentFieldName, 'sku'>;
export type DefaultableField = SentField & { readonly name: Defaultable };
export const DEFAULTABLE_FIELDS =
  SENT_FIELDS.filter((field): field is DefaultableField => field.name !== 'sku');
export const DEFAULTABLE = DEFAULTABLE_FIELDS.map(({ name }) => name);

/** What our own export has beside them, and nobody misses. */
const EXPORT_ONLY: ReadonlySet<string> = new Set(PRODUCT_FIELD_NAMES.filter((name) =>
  !MEMBERS.some((member) => member === name)));

/** The column that each member is read from, where a client says so. */
export type ColumnMap = ReadonlyMap<Member, string>;

/** What new products get if the cell of a member is blank, or its column is missing. */
export type Defaults = ReadonlyMap<Member, string>;

/** How a kind of file is recognised and read. Names are in lower case. */
interface Layout {
  /** A file with all of these columns is of this kind. */
  readonly signs: readonly string[];
  /** The shop whose column names the table of fields has; else columns are named like fields. */
  readonly shop?: ShopSystem;
  /** Equal in the rows of one product, of which the first has the name and the category. */
  readonly group?: string;
  readonly kind?: string;
  /** Of a row, and of the one that it inherits its category from. */
  readonly id?: string;
  readonly parent?: string;
  readonly storeView?: string;
  readonly hasCategoryLists?: boolean;
  readonly hasLocalDecimals?: boolean;
}

const LAYOUTS: readonly Layout[] = [
  {
    shop: 'shopify', signs: ['handle', 'title', 'variant price'], group: 'handle',
  },
  {
    shop: 'shopifyUrlHandle', signs: ['url handle', 'title', 'price'], group: 'url handle',
  },
  {
    shop: 'wooCommerce', signs: ['name', 'regular price'],
    kind: 'type', id: 'id', parent: 'parent', hasCategoryLists: true, hasLocalDecimals: true,
  },
  {
    shop: 'magento', signs: ['sku', 'categories', 'qty'],
    kind: 'product_type', storeView: 'store_view_code', hasCategoryLists: true,
  },
];

const OWN_LAYOUT: Layout = { signs: [] };

/** Where the columns stand, from 0. */
export interface Columns {
  readonly count: number;
  readonly places: Readonly<Record<Member, readonly number[]>>;
  /** Whether texts are trimmed, and blank categories filled in. */
  readonly isShop: boolean;
  readonly group: number | undefined;
  readonly kind: number | undefined;
  readonly id: number | undefined;
  readonly parent: number | undefined;
  readonly storeView: number | undefined;
  /** Whether a category is the first of a list, separated by commas. */
  readonly hasCategoryLists: boolean;
  readonly hasLocalDecimals: boolean;
  /** The first columns that nothing is read from. */
  readonly ignored: readonly string[];
}

/**
 * `name:Title,sku:Code`. A comma ends a column's name only where a word in lower case and a colon
 * follow, so names may have commas in them.
 * @throws AppError `invalid_query`
 */
export function parseColumnMap(text: string): ColumnMap {
  const map = parsePairs(text, MEMBERS);
  if (map) return map;
  const detail = `Name one column for a member of ${MEMBERS.join(', ')}: name:Title,sku:Code.`;
  throw invalidQuery([{ parameter: 'map', code: 'format', detail }]);
}

/**
 * `stock:0,category:Misc`, in the syntax of a column map.
 * @throws AppError `invalid_query`
 */
export function parseDefaults(text: string): Defaults {
  const defaults = parsePairs(text, DEFAULTABLE);
  if (defaults) return defaults;
  const members = DEFAULTABLE.join(', ');
  const detail = `Give one text for a member of ${members}: stock:0,category:Misc.`;
  throw invalidQuery([{ parameter: 'default', code: 'format', detail }]);
}

function parsePairs(text: string, members: readonly Member[]): Map<Member, string> | undefined {
  const pairs = new Map<Member, string>();
  for (const pair of text.split(/,(?=[a-z]+:)/)) {
    const colon = pair.indexOf(':');
    const member = members.find((name) => name === pair.slice(0, colon));
    const value = pair.slice(colon + 1).trim();
    if (!member || value === '' || pairs.has(member)) return undefined;
    pairs.set(member, value);
  }
  return pairs;
}

/**
 * With `isPartial`, columns may be missing: only new products need all members.
 * @throws AppError `invalid_data` for a duplicate column and if nothing could be imported,
 *   `invalid_query` for `map`
 */
export function findColumns(
  header: readonly string[], map: ColumnMap, defaults: Defaults = new Map(), isPartial = false,
): Columns {
  const { names, layout, places, others } = locate(header, map);
  const used = new Set([...Object.values(places).flat(), ...Object.values(others)]);
  assertUnique(header, used);
  assertUsable(findSources(places, defaults, isPartial), header);
  const ignored = header.filter((_, place) => {
    const name = names[place] ?? '';
    return name !== '' && !used.has(place) && (layout.shop !== undefined || !EXPORT_ONLY.has(name));
  });
  return {
    count: header.length, places, isShop: layout.shop !== undefined, ...others,
    hasCategoryLists: layout.hasCategoryLists === true && !map.has('category'),
    hasLocalDecimals: layout.hasLocalDecimals === true,
    ignored: ignored.slice(0, IMPORT_IGNORED_COLUMNS_LIMIT),
  };
}

/** How a header is understood, whether or not it has all that an import needs. */
export interface ColumnMatch {
  /** Where the columns of each member stand, from 0; none where there is no such column. */
  readonly places: Columns['places'];
  /** Where columns stand that tell how rows belong together, and that no member is read from. */
  readonly structure: readonly number[];
  /** Members without a column or a default: a new product needs all of them. */
  readonly missing: readonly Member[];
  /** Whether rows can be imported, even if members are missing. */
  readonly isUsable: boolean;
}

/** @throws AppError `invalid_query` where `map` names a column that is not there */
export function matchColumns(
  header: readonly string[], map: ColumnMap, defaults: Defaults, isPartial: boolean,
): ColumnMatch {
  const { places, others } = locate(header, map);
  const structure = Object.values(others).filter((place) => place !== undefined);
  return { places, structure, ...findSources(places, defaults, isPartial) };
}

function locate(header: readonly string[], map: ColumnMap) {
  const names = header.map(normalise);
  const layout = findLayout(names);
  const find = (name: string): number[] =>
    names.flatMap((other, place) => other === name ? [place] : []);
  const findMember = (member: Member): number[] => {
    const column = map.get(member);
    if (column === undefined) return listNames(member, layout).flatMap(find);
    const places = find(normalise(column));
    if (places.length > 0) return places;
    const detail = `The file has no column ${JSON.stringify(column)}. ${describe(header)}`;
    throw invalidQuery([{ parameter: 'map', code: 'unknown', detail }]);
  };
  const entries: [string, readonly number[]][] =
    MEMBERS.map((member) => [member, findMember(member)]);
  // The cast: each member has its entry.
  const places = Object.fromEntries(entries) as Columns['places'];
  const findOne = (name: string | undefined) => name === undefined ? undefined : find(name)[0];
  const others = {
    group: findOne(layout.group),
    kind: findOne(layout.kind),
    id: findOne(layout.id),
    parent: findOne(layout.parent),
    storeView: findOne(layout.storeView),
  };
  return { names, layout, places, others };
}

/** Where a member has several columns, the first one counts whose cell is not blank. */
function listNames(member: Member, { shop }: Layout): readonly string[] {
  const field = SENT_FIELDS.find(({ name }) => name === member);
  return field && shop ? field.shopColumns[shop] ?? [] : [member];
}

/** The column that is equal in the rows of one product, in files of a kind that has one. */
export function findGroupColumn(header: readonly string[]): number | undefined {
  const names = header.map(normalise);
  const { group } = findLayout(names);
  const place = group === undefined ? -1 : names.indexOf(group);
  return place < 0 ? undefined : place;
}

/** The kind of a file with columns of these names, which are in lower case. */
function findLayout(names: readonly string[]): Layout {
  return LAYOUTS.find(({ signs }) => signs.every((sign) => names.includes(sign))) ?? OWN_LAYOUT;
}

/** Two columns with one name are ambiguous. Names of ignored columns may differ in case alone. */
function assertUnique(header: readonly string[], used: ReadonlySet<number | undefined>): void {
  const usedNames = new Set(header.filter((_, place) => used.has(place)).map(normalise));
  const places = new Map<string, number>();
  for (const [place, name] of header.entries()) {
    const key = usedNames.has(normalise(name)) ? normalise(name) : name.trim();
    const first = places.get(key);
    places.set(key, place);
    if (first === undefined || key === '') continue;
    const [one, other] = [header[first] ?? '', name].map((text) => text.trim().slice(0, 100));
    const columns = `${first + 1} and ${place + 1}`;
    const what = one === other ? `The file has the column "${one}" twice (columns ${columns})`
      : `The file has the columns "${one}" and "${other}" (${columns}), which count as the same`;
    throw new AppError('invalid_data', `${what}. Rename or remove one of them.`);
  }
}

function assertUsable(
  { missing, isUsable }: Pick<ColumnMatch, 'missing' | 'isUsable'>, header: readonly string[],
): void {
  if (isUsable) return;
  const value = missing.map((member) => `${member}:COLUMN`).join(',');
  const issue: Issue = {
    parameter: 'map', code: 'required', detail: `Name the columns: ${value}.`,
  };
  const what = `The file has no column for ${missing.join(', ')}. ${describe(header)}`;
  throw new AppError('invalid_data', what, { issues: [issue] });
}

/** What has a column or a default; an existing product can be changed with its SKU and another. */
function findSources(
  places: Columns['places'], defaults: Defaults, isPartial: boolean,
): Pick<ColumnMatch, 'missing' | 'isUsable'> {
  const found = SENT_FIELDS.filter(({ name }) => places[name].length > 0 || defaults.has(name));
  const missing = SENT_FIELDS.filter((field) => field.isRequired && !found.includes(field))
    .map(({ name }) => name);
  const isUsable = isPartial ? !missing.includes('sku') && found.length > 1 : missing.length === 0;
  return { missing, isUsable };
}

/** Says what the columns are; bounded, whatever was sent. */
function describe(header: readonly string[]): string {
  const shown = header.slice(0, IMPORT_IGNORED_COLUMNS_LIMIT).map((name) => name.slice(0, 100));
  return `Its columns: ${shown.join(', ')}${shown.length < header.length ? ', ...' : ''}.`;
}

function normalise(name: string): string {
  return name.trim().toLowerCase();
}
