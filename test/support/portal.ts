/** The portal of servers that tests start. */
import { Passwords } from '../../src/domain/access/password.ts';
import type { PortalOptions } from '../../src/features/portal/portal.ts';
import type { TestFeature } from './test-feature.ts';

export interface PortalTestOptions {
  /** Serves the pages under `/portal`, with the server's clock and base URL. */
  readonly portal?: true | PortalOptions;
}

/** Hash at the least cost that argon2id takes. Hashing has tests of its own. */
const cheapPasswords = new Passwords({ memory: 8, passes: 1, parallelism: 1 }, 0);

export const portal: TestFeature<PortalTestOptions> = {
  async start({ portal: pages }, { clock, baseUrl }) {
    if (!pages) return { options: { portal: undefined } };
    // Loaded where it is used: most tests need no portal.
    const { createPortal } = await import('../../src/features/portal/portal.ts');
    const options = { clock, baseUrl, ...(pages !== true && pages) };
    return { options: { portal: createPortal(options, cheapPasswords) } };
  },
};
