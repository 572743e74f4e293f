/** Products: one at a time, as lists, and as files. */
import { createApiError, describeUnexpected, PreconditionFailedError } from './errors.ts';
import {
  FILE_OPTIONS, type FileOptions, type FileType, openSource, readToEndRecord, type Report, sendFile,
  type Source,
} from './lines.ts';
import {
  BOOLEAN, FUNCTION, OBJECT, oneOf, type OptionTable, PAIRS, READ_OPTIONS, readCall,
  type ReadOptions, REQUEST_OPTIONS, type RequestOptions, required, SENT, SOURCE, TARGET, TEXT,
  VERSION,
} from './options.ts';
import type {
  ImportProduct, NewProduct, Position, Product, ProductFieldName, ProductPatch, ProductQuery,
  ProductReplacement,
} from './product.ts';
import {
  LIST_OPTIONS, listItems, type ListOptions, parsePosition, readJson, type Sender, sendForJson,
  sendJson,
} from './sender.ts';
import type { ImportMode, ImportRow, ImportSummary, Page, PastOptions } from './types.ts';

/** How a request names a product: by its id, or `{ sku }`. */
export type ProductTarget = string | { readonly sku: string };

export interface GetOptions extends PastOptions, ReadOptions {}

/** Conditions on the version of the product: its `position`, or the ETag of a response. */
export interface VersionOptions extends RequestOptions {
  /** Change only this version. @throws PreconditionFailedError if it is another one by now */
  readonly ifMatch?: number | string | undefined;
}

export interface PutOptions extends VersionOptions {
  /** Only create. @throws PreconditionFailedError if there is a product with this SKU */
  readonly createOnly?: boolean | undefined;
}

export interface ProductListOptions<Field extends ProductFieldName = ProductFieldName>
  extends ProductQuery, PastOptions, ListOptions {
  /** Only these members. */
  readonly fields?: readonly Field[] | undefined;
}

export interface ExportOptions extends ProductQuery, PastOptions, ReadOptions {
  readonly format: 'csv' | 'ndjson';
  readonly fields?: readonly ProductFieldName[] | undefined;
}

export interface ImportOptions extends FileOptions {
  /** Default: CSV for text and bytes, and NDJSON for objects. */
  readonly type?: FileType | undefined;
  /** Default `upsert`. `update` rejects rows whose SKU is new, `create` those whose SKU exists. */
  readonly mode?: ImportMode | undefined;
  readonly dryRun?: boolean | undefined;
  /** Whether the report has a line for each row, or (default) for rejected ones. */
  readonly report?: 'all' | 'failed' | undefined;
  /** Values for blank cells of new products: `{ stock: 0 }`, or as text, `stock:0`. */
  readonly default?: Readonly<Record<string, string | number>> | string | undefined;
  /**
   * What a row does if an earlier one has its SKU, and another price or stock: it is rejected
   * (default), its stock is added, or it replaces the earlier one.
   */
  readonly duplicates?: 'reject' | 'sum' | 'last' | undefined;
}

/** A file that the server sends, at one position of the catalogue. */
export interface ExportedFile extends AsyncIterable<Uint8Array> {
  /** Continue with the changes after this position: nothing lies between. */
  readonly position: Position;
}

const GET_OPTIONS: OptionTable<GetOptions> = { ...READ_OPTIONS, at: SENT };

const VERSION_OPTIONS: OptionTable<VersionOptions> = { ...REQUEST_OPTIONS, ifMatch: VERSION };

const PUT_OPTIONS: OptionTable<PutOptions> = { ...VERSION_OPTIONS, createOnly: BOOLEAN };

const QUERY: OptionTable<ProductQuery & PastOptions> = {
  q: SENT, category: SENT, sku: SENT, barcode: SENT, priceMin: SENT, priceMax: SENT,
  stockMin: SENT, stockMax: SENT, updatedSince: SENT, changedSince: SENT, archived: SENT,
  sort: SENT, at: SENT,
};

const PRODUCT_LIST_OPTIONS: OptionTable<ProductListOptions> = {
  ...LIST_OPTIONS, ...QUERY, fields: SENT,
};

const EXPORT_OPTIONS: OptionTable<ExportOptions> = {
  ...READ_OPTIONS, ...QUERY, format: required(oneOf('csv', 'ndjson')), fields: SENT,
};

const IMPORT_OPTIONS: OptionTable<ImportOptions> = {
  ...FILE_OPTIONS, mode: SENT, dryRun: SENT, report: SENT, default: PAIRS, duplicates: SENT,
};

const PRODUCTS = '/api/v1/products';
/** One of those who change a product at the same time always succeeds. */
const UPDATE_ATTEMPTS = 10;

export class Products {
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** @throws InvalidDataError, SkuTakenError */
  async create(product: NewProduct, options: RequestOptions = {}): Promise<Product> {
    const [request] = readCall('products.create', [[product, OBJECT]], options, REQUEST_OPTIONS);
    return sendJson(this.#sender, { ...request, method: 'POST', path: PRODUCTS }, product);
  }

  /** @throws NotFoundError */
  async get(target: ProductTarget, options: GetOptions = {}): Promise<Product> {
    const [request, query] = readCall('products.get', [[target, TARGET]], options, GET_OPTIONS);
    return sendForJson(this.#sender, {
      ...request, method: 'GET', path: formatPath(target), query,
    });
  }

  /**
   * The product if it is no longer at a known version, else undefined: saves a transfer.
   * @throws NotFoundError
   */
  async getIfChanged(
    target: ProductTarget, version: number | string, options: ReadOptions = {},
  ): Promise<Product | undefined> {
    const [request] = readCall(
      'products.getIfChanged', [[target, TARGET], [version, VERSION]], options, READ_OPTIONS,
    );
    const headers = { 'if-none-match': formatTag(version) };
    return this.#sender.send({
      ...request, method: 'GET', path: formatPath(target), headers,
    }, async (response) => {
      if (response.status !== 304) return readJson<Product>(response);
      await response.text();
      return undefined;
    });
  }

  /** Creates the product with this SKU, or replaces it. @throws InvalidDataError */
  async put(sku: string, product: ProductReplacement, options: PutOptions = {}): Promise<Product> {
    const [request] = readCall('products.put', [[sku, TEXT], [product, OBJECT]], options,
      PUT_OPTIONS);
    return sendJson(this.#sender, {
      ...request, method: 'PUT', path: formatPath({ sku }),
      headers: {
        ...matchHeader(options), ...(options.createOnly && { 'if-none-match': '*' }),
      },
    }, product);
  }

  /** Changes the given members only. @throws NotFoundError, InvalidDataError, SkuTakenError */
  async patch(
    target: ProductTarget, patch: ProductPatch, options: VersionOptions = {},
  ): Promise<Product> {
    const [request] = readCall('products.patch', [[target, TARGET], [patch, OBJECT]], options,
      VERSION_OPTIONS);
    return sendJson(this.#sender, {
      ...request, method: 'PATCH', path: formatPath(target), headers: matchHeader(options),
    }, patch);
  }

  /**
   * Reads the product and patches what `change`, which may be async, returns for it (undefined:
   * nothing). If someone else changed the product in between, does both again, up to 10 times.
   * @throws NotFoundError, InvalidDataError; PreconditionFailedError after the last time
   */
  async update(
    target: ProductTarget,
    change: (product: Product) => ProductPatch | undefined | Promise<ProductPatch | undefined>,
    options: ReadOptions = {},
  ): Promise<Product> {
    readCall('products.update', [[target, TARGET], [change, FUNCTION]], options, READ_OPTIONS);
    for (let attempts = 1; ; attempts += 1) {
      const product = await this.get(target, options);
      const patch = await change(product);
      if (patch === undefined) return product;
      try {
        return await this.patch(product.id, patch, { ...options, ifMatch: product.position });
      } catch (error) {
        const isChanged = error instanceof PreconditionFailedError;
        if (!isChanged || attempts === UPDATE_ATTEMPTS) throw error;
      }
    }
  }

  /** @throws NotFoundError */
  async delete(target: ProductTarget, options: VersionOptions = {}): Promise<void> {
    const [request] = readCall('products.delete', [[target, TARGET]], options, VERSION_OPTIONS);
    await this.#sender.send({
      ...request, method: 'DELETE', path: formatPath(target), headers: matchHeader(options),
    }, (response) => response.text());
  }

  /** All products that match, page after page. With `at`, no conditions and no `sort`. */
  list<Field extends ProductFieldName = ProductFieldName>(
    options: ProductListOptions<Field> = {},
  ): AsyncGenerator<Pick<Product, Field>, void, void> {
    const call = readCall('products.list', [], options, PRODUCT_LIST_OPTIONS);
    return listItems(this.#sender, PRODUCTS, 'products', call);
  }

  /** One page, for callers that page themselves. */
  async listPage<Field extends ProductFieldName = ProductFieldName>(
    options: ProductListOptions<Field> & { readonly cursor?: string | undefined } = {},
  ): Promise<Page<'products', Pick<Product, Field>>> {
    const [request, query] = readCall('products.listPage', [], options, {
      ...PRODUCT_LIST_OPTIONS, cursor: SENT,
    });
    return sendForJson(this.#sender, { ...request, method: 'GET', path: PRODUCTS, query });
  }

  /**
   * All products that match, as a file. The server sends no faster than it is read. Reading it
   * throws a ConnectionError unless it is complete: the server confirms the number of its rows.
   */
  async export(options: ExportOptions): Promise<ExportedFile> {
    const [request, query] = readCall('products.export', [], options, EXPORT_OPTIONS);
    const { format } = options;
    const accept = `${format === 'csv' ? 'text/csv' : 'application/x-ndjson'}; end=record`;
    return this.#sender.send({
      ...request, method: 'GET', path: PRODUCTS, query: { ...query, format }, headers: { accept },
    }, async ({ status, headers, chunks }) => {
      const position = parsePosition(headers.get('seller-position'));
      if (position !== undefined && headers.get('content-type')?.includes('end=record')) {
        return Object.assign(readToEndRecord(chunks(), format, position), { position });
      }
      throw createApiError(describeUnexpected(status, position === undefined
        ? 'The response has no position.'
        : 'The server does not confirm the number of rows. Update it, and check that no proxy '
          + 'changes Accept or Content-Type.'));
    });
  }

  /**
   * Imports a file, or objects, of any length.
   * @throws InvalidDataError if the file as a whole cannot be imported
   */
  async import(
    source: Source<ImportProduct>, options: ImportOptions = {},
  ): Promise<Report<ImportRow, ImportSummary>> {
    const call = readCall('products.import', [[source, SOURCE]], options, IMPORT_OPTIONS);
    const body = await openSource(source);
    const type = options.type ?? (body.hasObjects ? 'application/x-ndjson' : 'text/csv');
    return sendFile(this.#sender, `${PRODUCTS}/import`, body, call, { ...options, type });
  }
}

function formatPath(target: ProductTarget): string {
  return typeof target === 'string' ? `${PRODUCTS}/${encodeURIComponent(target)}`
    : `${PRODUCTS}/sku/${encodeURIComponent(target.sku)}`;
}

function matchHeader({ ifMatch }: VersionOptions): Record<string, string> {
  return ifMatch === undefined ? {} : { 'if-match': formatTag(ifMatch) };
}

/** The ETag of a product is its position, in quotes. */
function formatTag(version: number | string): string {
  return parsePosition(String(version)) === undefined ? String(version) : `"${version}"`;
}
