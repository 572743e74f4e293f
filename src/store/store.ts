/**
 * The store: everything that is kept. Each port is one capability; consumers depend on the ports
 * that they need, and only the composition on all of them. A method that has resolved is durable
 * and happened completely; one that has rejected changed nothing, unless its error says that the
 * outcome is unknown. Begin and commit never show. Every adapter passes `test/store/contract.ts`.
 */
import type { AccessStore } from './access-store.ts';
import type { AccountStore } from './account-store.ts';
import type { CatalogueStore } from './catalogue-store.ts';
import type { HistoryStore } from './history-store.ts';
import type { MaintenanceStore } from './maintenance-store.ts';
import type { SearchStore } from './search-store.ts';
import type { UsageStore } from './usage-store.ts';
import type { WebhookStore } from './webhook-store.ts';

export interface Store extends AccessStore, CatalogueStore, HistoryStore, SearchStore, WebhookStore,
  AccountStore, UsageStore, MaintenanceStore {
  /** 32 bytes that sign cursors, shared by every process on this store. */
  readonly cursorKey: Uint8Array;
}
