/** The package's entry `./client`. */
export { type SellerApi, SellerClient } from './seller-client.ts';
export type { ListOptions } from './sender.ts';
export type { ReadOptions, ReceivedResponse, RequestOptions } from './options.ts';
export type { SentRequest, TransportOptions as ClientOptions } from './transport.ts';
export {
  ApiError, AuthenticationError, ConnectionError, IdempotencyError, InvalidDataError,
  NotFoundError, PermissionError, PreconditionFailedError, type Problem, RateLimitedError,
  ResyncRequiredError, SkuTakenError, StockRejectedError, TimeoutError, UnavailableError,
  WriteRejectedError,
} from './errors.ts';
export type { ChangesOptions } from './changes.ts';
export type {
  ImportListOptions, ImportRecord, Imports, RevertConflict, RevertedProduct, RevertOptions,
  RevertSelection, RevertStatus, RevertSummary,
} from './imports.ts';
export type { Report, Source } from './lines.ts';
export type {
  ExportedFile, ExportOptions, GetOptions, ImportOptions, LookupOptions, LookupResult,
  ProductListOptions, ProductTarget, PutOptions, VersionOptions,
} from './product-options.ts';
export type { Products } from './products.ts';
export type {
  LevelOptions, MovementOptions, Stock, StockStreamOptions, StockSyncOptions,
} from './stock.ts';
export type {
  ImportProduct, NewProduct, Position, Product, ProductFieldName, ProductLookup, ProductPatch,
  ProductQuery, ProductReplacement, SortKey,
} from './product.ts';
export type {
  Change, ChangeType, ImportKind, ImportMode, ImportRow, ImportSummary, Issue, Page, PastOptions,
  StockChange, StockCounts, StockLevel, StockLine, StockMovement, StockResult, StockStatus,
  StockSummary, StockSyncResult,
} from './types.ts';
export type {
  NewWebhook, Webhook, WebhookAttempt, WebhookAttemptDetail, WebhookDelivery, WebhookEventName,
  WebhookPatch, Webhooks, WebhookStatus, WebhookType, WebhookWithSecret,
} from './webhooks.ts';
