/**
 * The composition of the servers that tests start: features with options of their own.
 * Written by `.toolchain/composition.ts`; in `make minimal`, with fewer rooms.
 */
import type { TestFeature } from './test-feature.ts';
import { portal, type PortalTestOptions } from './portal.ts';
import { webhooks, type WebhooksTestOptions } from './webhooks.ts';

export type FeatureTestOptions = object
  & PortalTestOptions
  & WebhooksTestOptions;

export const testFeatures: readonly TestFeature<FeatureTestOptions>[] = [
  portal,
  webhooks,
];
