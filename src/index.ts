/** All public exports, and nothing else. */
export { type App, createApp } from './app.ts';
export type { Account, AccountSettings, NewAccount } from './domain/account.ts';
export { type ApiKeySecret, generateApiKey, hashApiKey, parseNewApiKey } from './domain/api-key.ts';
export type { AuditEvent, AuditType, NewAuditEvent } from './domain/audit.ts';
export { CHANGE_TYPES, type Change, type ChangeType, formatChange } from './domain/change.ts';
export { generateCode, hashCode } from './domain/code.ts';
export { AppError, type ErrorCode, type Issue } from './domain/error.ts';
export {
  formatKeyId, formatProductId, formatSellerId, formatWebhookId, parseKeyId, parseProductId,
  parseSellerId, parseWebhookId,
} from './domain/id.ts';
export type { PositionSet, Precondition } from './domain/precondition.ts';
export {
  findSku, formatProduct, type NewProduct, parseNewProduct, parseProductPatch, parseReplacement,
  type Product, type ProductPatch, type ProductRow, type ProductTarget, type Sku,
} from './domain/product.ts';
export {
  foldText, type Place, type ProductFilter, type ProductQuery, type ProductSort,
} from './domain/product-query.ts';
export { parseNewSeller } from './domain/seller.ts';
export type { StockChange, StockResult } from './domain/stock-change.ts';
export type { StockSync } from './domain/stock-sync.ts';
export type { TotpSecret } from './domain/totp.ts';
export type { NewWebhook, Webhook, WebhookAttempt, WebhookPatch } from './domain/webhook.ts';
export type { AnsweredRequest } from './http/answered-request.ts';
export type { BindAddress } from './http/bind.ts';
export { type Listener, listen, type ListenOptions } from './http/listener.ts';
export type { ErrorReport } from './http/problem.ts';
export type { Certificate } from './http/tls.ts';
export type { AppOptions } from './parts.ts';
export { createPortal, type PortalOptions } from './portal/portal.ts';
export type {
  AuditQuery, Credentials, Invitation, Joined, Joining, NewSession, NewTotp, Session, Totp, Visitor,
} from './store/portal-store.ts';
export { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/store.ts';
export type {
  CatalogueTotals, ImportedProducts, ImportMode, ImportPreview, ProductExport, ProductPage, Store,
  WrittenProduct,
} from './store/store.ts';
export type { StoreFigures } from './store/store-figures.ts';
export type {
  ChangePage, ChangeQuery, MovementPage, MovementQuery, StockDay, StockDayQuery, StockLevelPage,
  StockTrial, SyncedStock,
} from './store/stock-store.ts';
export type { CountedUsage, KeyUsage, UsageQuery } from './store/usage-store.ts';
export type { Author, Write } from './store/write.ts';
export { startWebhooks, type Webhooks, type WebhooksOptions } from './webhooks/webhooks.ts';
