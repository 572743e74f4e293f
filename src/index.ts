/** All public exports, and nothing else. */
export type { App } from './app.ts';
export type { Account, AccountSettings, NewAccount } from './domain/access/account.ts';
export {
  type ApiKeySecret, generateApiKey, hashApiKey, parseNewApiKey,
} from './domain/access/api-key.ts';
export type { AuditEvent, AuditType, NewAuditEvent } from './domain/access/audit.ts';
export {
  CHANGE_TYPES, type Change, type ChangeType, formatChange,
} from './domain/catalogue/change.ts';
export { generateCode, hashCode } from './domain/access/human-code.ts';
export { AppError, type ErrorCode, type Issue } from './domain/error.ts';
export {
  formatKeyId, formatProductId, formatSellerId, formatWebhookId, parseKeyId, parseProductId,
  parseSellerId, parseWebhookId,
} from './domain/id.ts';
export type { PositionSet, Precondition } from './domain/precondition.ts';
export {
  findSku, formatProduct, parseNewProduct, parseProductPatch, parseReplacement, type ProductPatch,
  type ProductRow, type ProductTarget,
} from './domain/catalogue/product.ts';
export type { NewProduct, Product, Sku } from './domain/catalogue/product-fields.ts';
export {
  foldText, type KeysetAnchor as Place, type ProductFilter, type ProductQuery, type ProductSort,
} from './domain/catalogue/product-query.ts';
export { parseNewSeller } from './domain/access/seller.ts';
export type { StockChange, StockResult } from './domain/catalogue/stock-change.ts';
export type { StockSync } from './domain/catalogue/stock-sync.ts';
export type { TotpSecret } from './domain/access/totp.ts';
export type {
  NewWebhook, Webhook, WebhookAttempt, WebhookPatch,
} from './domain/webhooks/webhook.ts';
export type { AccessLogEntry as AnsweredRequest } from './http/request-record.ts';
export type { BindAddress } from './http/server/bind.ts';
export { type Listener, listen, type ListenOptions } from './http/server/listener.ts';
export type { ErrorReport } from './http/response/problem.ts';
export type { Certificate } from './http/server/tls.ts';
export { type AppOptions, createApp } from './features.ts';
export { createPortal, type PortalOptions } from './features/portal/portal.ts';
export type {
  AuditQuery, Credentials, Invitation, RegistrationResult as Joined, Registration as Joining,
  NewSession, NewTotp, Session, Totp, SignedInSession as Visitor,
} from './store/account-store.ts';
export { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/store.ts';
export type {
  ImportedProducts, ImportMode, ImportDryRun as ImportPreview, ProductPage, WrittenProduct,
} from './store/catalogue-store.ts';
export type { CatalogueTotals, ProductExport } from './store/search-store.ts';
export type { Store } from './store/store.ts';
export type { StoreMetrics as StoreFigures } from './store/maintenance-store.ts';
export type { StockDryRun as StockTrial, SyncedStock } from './store/catalogue-store.ts';
export type {
  ChangePage, ChangeQuery, MovementPage, MovementQuery, StockDay, StockDayQuery, StockLevelPage,
} from './store/history-store.ts';
export type { CountedUsage, KeyUsage, UsageQuery } from './store/usage-store.ts';
export type { Actor as Author, WriteContext as Write } from './store/write.ts';
export {
  startWebhooks, type Webhooks, type WebhooksOptions,
} from './features/webhooks/webhooks.ts';
