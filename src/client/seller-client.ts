/**
 * The client of the API, for Node and every other runtime with `fetch`. It pages, retries safely,
 * follows the change feed, and streams files in both directions.
 */
import { type ChangesOptions, readChanges } from './changes.ts';
import { Imports } from './imports.ts';
import { Products } from './products.ts';
import { Stock } from './stock.ts';
import type { Sender } from './sender.ts';
import { CLIENT_OPTIONS, Transport, type TransportOptions } from './transport.ts';
import type { Change } from './types.ts';
import { Webhooks } from './webhooks.ts';

/** What one seller can do, however the requests are sent. */
export class SellerApi {
  /** The products: one at a time, as lists, and as files. */
  readonly products: Products;
  /** Stock levels, their changes, and the stock ledger. */
  readonly stock: Stock;
  /** What imports and stock syncs did, and how to revert them. */
  readonly imports: Imports;
  /** Endpoints to which changes are sent. */
  readonly webhooks: Webhooks;
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
    this.products = new Products(sender);
    this.stock = new Stock(sender);
    this.imports = new Imports(sender);
    this.webhooks = new Webhooks(sender);
  }

  /**
   * Changes after a position, in order and without gaps; with `live`, until the signal is aborted.
   * @throws ResyncRequiredError: export the catalogue, and continue after its position
   * @example
   * ```ts
   * for await (const change of client.changes({ after: 0, live: true })) {
   *   console.log(change.position, change.type, change.sku); // 1 created MUG-1
   *   if (change.sku === 'CUP-1') break;
   * }
   * ```
   */
  changes(options: ChangesOptions): AsyncGenerator<Change, void, void> {
    return readChanges(this.#sender, options);
  }
}

/** Sends the requests of a seller over HTTP, with an API key. */
export class SellerClient extends SellerApi {
  /** Where the server is, without a trailing slash. */
  readonly baseUrl: string;

  /**
   * Sends nothing yet.
   * @throws InvalidDataError if an option cannot be used
   * @example
   * ```ts
   * import { SellerClient } from 'seller-product-api/client';
   *
   * const client = new SellerClient({
   *   baseUrl: 'https://shop.example', key: process.env['SELLER_API_KEY'] ?? '',
   * });
   * ```
   */
  constructor(options: TransportOptions) {
    const transport = new Transport(options, CLIENT_OPTIONS);
    super(transport);
    this.baseUrl = transport.baseUrl;
  }
}
