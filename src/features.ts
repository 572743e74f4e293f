/**
 * The composition: one import and one entry for each feature of this server. To remove a feature,
 * delete its folder in `features/`, its pages in `features/portal/` and its lines here and in
 * `features/portal/routes.ts`; `test/features/removal.test.ts` does so for each.
 */
import { type App, composeApp } from './app.ts';
import type { CoreOptions } from './app-context.ts';
import type { Feature } from './feature.ts';
import { changes } from './features/changes/feature.ts';
import { imports } from './features/imports/feature.ts';
import { openapi } from './features/openapi/feature.ts';
import { portal } from './features/portal/feature.ts';
import { telemetry } from './features/telemetry/feature.ts';
import { webhooks } from './features/webhooks/feature.ts';

const composition = [
  imports,
  changes,
  openapi,
  webhooks,
  portal,
  telemetry,
] as const;

type Composed = (typeof composition)[number];
/** The options of all features together. */
type FeatureOptions = Together<OptionsOf<Composed>>;
type OptionsOf<One> =
  One extends Feature<infer Options, infer _> ? (options: Options) => void : never;
/** The same for `createShop`. */
export type FeatureShopOptions = Together<ShopOptionsOf<Composed>>;
type ShopOptionsOf<One> =
  One extends Feature<infer _, infer Options> ? (options: Options) => void : never;
/** The intersection of what functions take. */
type Together<Functions> = [Functions] extends [(options: infer All) => void] ? All : never;

export const features: readonly Feature<FeatureOptions, FeatureShopOptions>[] = composition;

export type AppOptions = CoreOptions & FeatureOptions;

/** The Seller Product API as a request handler for `node:http` and compatible frameworks. */
export function createApp(options: AppOptions): App {
  return composeApp(features, options);
}
