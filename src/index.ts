/**
 * The package's main entry: everything that a program which embeds the server may use. What is not
 * here may change in any version.
 */
import './embed/supported-node.ts';

export { type ActOptions, createShop, type Shop } from './embed/shop.ts';
export {
  openStore, type ShopDatabase, type ShopLocation, type ShopOptions, type ShopStore,
} from './embed/shop-options.ts';
export type { CatalogueChange } from './embed/commit-listener.ts';
export type {
  BeforeWrite, ProposedChange, ProposedProduct, ProposedStates,
} from './embed/hooked-store.ts';
export type { OnChange, SubscribeOptions, Subscription } from './embed/subscription.ts';
export type {
  CreatedKey, DeletedSeller, Invitation, InvitationOptions, Key, Keys, NewKey, NewSeller, Seller,
  SellerChanges, Sellers,
} from './embed/administration.ts';
export type { SellerApi } from './client/seller-client.ts';
export type { Scope } from './domain/access/caller.ts';
export { AppError, type ErrorCode, type Issue } from './domain/error.ts';
export type { AccessLogEntry } from './http/request-record.ts';
export type { ErrorReport } from './http/response/problem.ts';
export type { BindAddress } from './http/server/bind.ts';
export type {
  Listener, ListenOptions as ShopListenOptions, StopOptions,
} from './http/server/listener.ts';
export type { Certificate } from './http/server/tls.ts';
