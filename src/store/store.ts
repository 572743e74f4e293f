/**
 * The store: everything that is persisted, as one port per capability; a consumer depends only on
 * the ports that it needs. Every method is atomic. When it resolves, its changes are durable; when
 * it rejects, nothing was changed, unless the error says that the outcome is unknown. Callers never
 * see transactions. Every adapter passes `test/store/contract.ts`.
 */
import type { AccessStore, UsageStore } from './access-store.ts';
import type { AccountStore, PasskeyStore } from './account-store.ts';
import type { CatalogueStore } from './catalogue-store.ts';
import type { HistoryStore, ImportStore } from './history-store.ts';
import type { MaintenanceStore } from './maintenance-store.ts';
import type { ImportJobStore } from './nodes/import-job-store.ts';
import type { RateLeaseStore } from './nodes/rate-lease-store.ts';
import type { ThrottleStore } from './nodes/throttle-store.ts';
import type { RevertStore } from './revert-store.ts';
import type { SearchStore } from './search-store.ts';
import type { WebhookStore } from './webhook-store.ts';

export interface Store extends AccessStore, CatalogueStore, HistoryStore, SearchStore, WebhookStore,
  AccountStore, PasskeyStore, UsageStore, MaintenanceStore, ImportStore, RevertStore,
  ThrottleStore, RateLeaseStore {
  /** 32 bytes that sign cursors, shared by every process on this store. */
  readonly cursorKey: Uint8Array;
  /** Undefined if only one process serves the store, which keeps import jobs itself. */
  readonly importJobs?: ImportJobStore;
}
