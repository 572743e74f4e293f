/** Products: one at a time, as lists, and as files. */
import { createApiError, describeUnexpected, PreconditionFailedError } from './errors.ts';
import { openSource, readToEndRecord, type Report, sendFile, type Source } from './lines.ts';
import {
  FUNCTION, LIST, OBJECT, READ_OPTIONS, readCall, type ReadOptions, REQUEST_OPTIONS,
  type RequestOptions, SENT, SOURCE, TARGET, TEXT, VERSION,
} from './options.ts';
import type {
  ImportProduct, NewProduct, Product, ProductFieldName, ProductLookup, ProductPatch,
  ProductReplacement,
} from './product.ts';
import {
  EXPORT_OPTIONS, type ExportedFile, type ExportOptions, GET_OPTIONS, type GetOptions,
  IMPORT_OPTIONS, type ImportOptions, LOOKUP_OPTIONS, type LookupOptions, type LookupResult,
  PRODUCT_LIST_OPTIONS, type ProductListOptions, type ProductTarget, PUT_OPTIONS, type PutOptions,
  VERSION_OPTIONS, type VersionOptions,
} from './product-options.ts';
import {
  listItems, parsePosition, readJson, type Sender, sendForJson, sendJson,
} from './sender.ts';
import type { ImportRow, ImportSummary, Page } from './types.ts';

const PRODUCTS = '/api/v1/products';
/** One of those who change a product at the same time always succeeds. */
const UPDATE_ATTEMPTS = 10;

/** Products: one at a time, as lists, and as files. */
export class Products {
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Creates a product.
   * @throws InvalidDataError; SkuTakenError if another product has its SKU
   * @example
   * ```ts
   * const { id, position } = await client.products.create({
   *   name: 'Tea pot', category: 'Kitchen', sku: 'POT-1', price: 24.5, stock: 10,
   * });
   * ```
   */
  async create(product: NewProduct, options: RequestOptions = {}): Promise<Product> {
    const [request] = readCall('products.create', [[product, OBJECT]], options, REQUEST_OPTIONS);
    return sendJson(this.#sender, { ...request, method: 'POST', path: PRODUCTS }, product);
  }

  /**
   * The product, now or at an earlier position or time.
   * @throws NotFoundError; ResyncRequiredError if the history no longer reaches back to `at`
   * @example
   * ```ts
   * const { price, currency } = await client.products.get({ sku: 'MUG-1' });
   * console.log(price, currency); // 12 EUR
   * ```
   */
  async get<Field extends ProductFieldName = ProductFieldName>(
    target: ProductTarget, options: GetOptions<Field> = {},
  ): Promise<Pick<Product, Field>> {
    const [request, query] = readCall('products.get', [[target, TARGET]], options, GET_OPTIONS);
    return sendForJson(this.#sender, {
      ...request, method: 'GET', path: formatPath(target), query,
    });
  }

  /**
   * The product if it is no longer at a known version, else undefined: saves a transfer.
   * @throws NotFoundError
   * @example
   * ```ts
   * const { id, position } = await client.products.get({ sku: 'MUG-1' });
   * console.log(await client.products.getIfChanged(id, position)); // undefined
   * ```
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

  /**
   * Creates the product with this SKU, or replaces it: optional members that are left out are
   * removed.
   * @throws InvalidDataError; PreconditionFailedError (`createOnly`, `ifMatch`)
   * @example
   * ```ts
   * await client.products.put('POT-1', {
   *   name: 'Tea pot', category: 'Kitchen', price: 24.5, stock: 10,
   * }, { createOnly: true });
   * ```
   */
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

  /**
   * Changes the given members only. Null removes the value of an optional member.
   * @throws NotFoundError; InvalidDataError; SkuTakenError; PreconditionFailedError (`ifMatch`)
   * @example
   * ```ts
   * const { id, position } = await client.products.get({ sku: 'MUG-1' });
   * await client.products.patch(id, { price: 13, barcode: null }, { ifMatch: position });
   * ```
   */
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
   * @throws NotFoundError; InvalidDataError; PreconditionFailedError after the last time
   * @example
   * ```ts
   * const { price } = await client.products.update({ sku: 'MUG-1' }, (mug) =>
   *   (mug.stock > 10 ? { price: mug.price - 1 } : undefined));
   * console.log(price); // 11
   * ```
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

  /**
   * Deletes the product. Its history stays, as far as the history reaches.
   * @throws NotFoundError; PreconditionFailedError (`ifMatch`)
   * @example
   * ```ts
   * await client.products.delete({ sku: 'MUG-1' });
   * ```
   */
  async delete(target: ProductTarget, options: VersionOptions = {}): Promise<void> {
    const [request] = readCall('products.delete', [[target, TARGET]], options, VERSION_OPTIONS);
    await this.#sender.send({
      ...request, method: 'DELETE', path: formatPath(target), headers: matchHeader(options),
    }, (response) => response.text());
  }

  /**
   * All products that match, page after page. With `at`, no conditions and no `sort`.
   * @throws InvalidDataError; ResyncRequiredError if the history no longer reaches back to `at`
   * @example
   * ```ts
   * for await (const { sku, stock } of client.products.list({ stockMax: 10, sort: 'stock' })) {
   *   console.log(sku, stock); // CUP-1 5
   * }
   * ```
   */
  list<Field extends ProductFieldName = ProductFieldName>(
    options: ProductListOptions<Field> = {},
  ): AsyncGenerator<Pick<Product, Field>, void, void> {
    const call = readCall('products.list', [], options, PRODUCT_LIST_OPTIONS);
    return listItems(this.#sender, PRODUCTS, 'products', call);
  }

  /**
   * Looks up up to 1,000 products at one position, by what other systems know of them. Several
   * products may have the same barcode or pairs; a query must not match more than 100.
   * @throws InvalidDataError for an invalid query, or too many matches
   * @example
   * ```ts
   * const { results: [[mug], cups] } = await client.products.lookup(
   *   [{ sku: 'MUG-1' }, { barcode: '04006381333931' }], { fields: ['id', 'stock'] });
   * ```
   */
  async lookup<Field extends ProductFieldName = ProductFieldName>(
    queries: readonly ProductLookup[], options: LookupOptions<Field> = {},
  ): Promise<LookupResult<Pick<Product, Field>>> {
    const [request, query] = readCall('products.lookup', [[queries, LIST]], options,
      LOOKUP_OPTIONS);
    return sendJson(this.#sender, {
      ...request, method: 'POST', path: `${PRODUCTS}/lookup`, query,
    }, { queries });
  }

  /**
   * One page, for callers that page themselves: `cursor` is the `next_cursor` of the page before.
   * @throws InvalidDataError; ResyncRequiredError if the history no longer reaches back to `at`
   * @example
   * ```ts
   * const page = await client.products.listPage({ limit: 1, fields: ['sku'] });
   * console.log(page.products); // [ { sku: 'MUG-1' } ]
   * const cursor = page.next_cursor ?? undefined;
   * const next = await client.products.listPage({ limit: 1, fields: ['sku'], cursor });
   * ```
   */
  async listPage<Field extends ProductFieldName = ProductFieldName>(
    options: ProductListOptions<Field> & {
      /** The `next_cursor` of the page before. Other options except `limit` must be the same. */
      readonly cursor?: string | undefined;
    } = {},
  ): Promise<Page<'products', Pick<Product, Field>>> {
    const [request, query] = readCall('products.listPage', [], options, {
      ...PRODUCT_LIST_OPTIONS, cursor: SENT,
    });
    return sendForJson(this.#sender, { ...request, method: 'GET', path: PRODUCTS, query });
  }

  /**
   * All products that match, as a file. The server sends no faster than it is read. Reading it
   * throws a ConnectionError unless it is complete: the server confirms the number of its rows.
   * @throws InvalidDataError; ResyncRequiredError if the history no longer reaches back to `at`
   * @example
   * ```ts
   * import { writeFile } from 'node:fs/promises';
   *
   * const file = await client.products.export({ format: 'csv' });
   * await writeFile('products.csv', file);
   * for await (const { sku } of client.changes({ after: file.position })) console.log(sku);
   * ```
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
   * Imports a file, or objects, of any length. Rows are written in batches; a rejected row does not
   * affect the others. The report has a line for each rejected row, and then a summary.
   * @throws InvalidDataError if the file as a whole cannot be imported
   * @example
   * ```ts
   * const file = 'sku,name,category,price,stock\nPOT-1,Tea pot,Kitchen,x,3\n';
   * const report = await client.products.import(file, { fileName: 'pots.csv' });
   * for await (const { line, errors } of report) {
   *   console.log(line, errors?.[0]?.pointer); // 2 /price
   * }
   * console.log((await report.summary()).failed); // 1
   * ```
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
