/** All public exports, and nothing else. */
export { type App, type AppOptions, createApp } from './app.ts';
export { type ApiKeySecret, generateApiKey, hashApiKey, parseNewApiKey } from './domain/api-key.ts';
export { AppError, type ErrorCode, type Issue } from './domain/error.ts';
export {
  formatKeyId, formatProductId, formatSellerId, parseKeyId, parseSellerId,
} from './domain/id.ts';
export { parseNewSeller } from './domain/seller.ts';
export { type Listener, listen } from './http/listener.ts';
export type { ErrorReport } from './http/problem.ts';
export { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/store.ts';
export type { Store } from './store/store.ts';
