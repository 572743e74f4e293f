/**
 * The composition: one import and one entry for each feature of this server.
 * Written by `.toolchain/composition.ts`; in `make minimal`, with fewer rooms.
 */
import { type App, composeApp } from './app.ts';
import type { CoreOptions } from './app-context.ts';
import type { Feature } from './feature.ts';
import { changes } from './features/changes/feature.ts';
import { imports } from './features/imports/feature.ts';
import { openapi, type OpenApiOptions } from './features/openapi/feature.ts';
import { portal, type PortalOption, type PortalShopOption } from './features/portal/feature.ts';
import { telemetry } from './features/telemetry/feature.ts';
import type { TelemetryOption } from './features/telemetry/operator.ts';
import {
  webhooks, type WebhooksOption, type WebhooksShopOption,
} from './features/webhooks/feature.ts';

export const features: readonly Feature<FeatureOptions, FeatureShopOptions>[] = [
  imports,
  changes,
  openapi,
  webhooks,
  portal,
  telemetry,
];

/** The options of the features, one line each. */
type FeatureOptions = All<[
  OpenApiOptions,
  PortalOption,
  TelemetryOption,
  WebhooksOption,
]>;
/** The options of the features, for `createShop`. */
export type FeatureShopOptions = All<[
  OpenApiOptions,
  PortalShopOption,
  WebhooksShopOption,
]>;
/** All of these options. */
type All<Options> = Options extends [infer First, ...infer Rest] ? First & All<Rest> : object;

export type AppOptions = CoreOptions & FeatureOptions;

/** The Seller Product API as a request handler for `node:http` and compatible frameworks. */
export function createApp(options: AppOptions): App {
  return composeApp(features, options);
}
