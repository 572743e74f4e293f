/** The webhooks of servers that tests start. */
import type { startWebhooks } from '../../src/features/webhooks/webhooks.ts';
import type { TestFeature } from './test-feature.ts';

export interface WebhooksTestOptions {
  /** Sends webhooks, with these options. */
  readonly webhooks?: Omit<Parameters<typeof startWebhooks>[0], 'store' | 'report'>;
}

export const webhooks: TestFeature<WebhooksTestOptions> = {
  async start({ webhooks: hooks }, { store, report, clock }) {
    if (!hooks) return { options: { webhooks: undefined } };
    const { startWebhooks: start } = await import('../../src/features/webhooks/webhooks.ts');
    const service = start({ store, report, ...(clock && { clock }), ...hooks });
    return { options: { webhooks: service }, close: service.close };
  },
};
