/** The portal: the back office under `/portal`, for sellers with a browser. */
import { join } from 'node:path';
import type { Feature, Pages } from '../../feature.ts';
import { UPLOADS } from '../../store/sqlite/files/data-folder-files.ts';

interface PortalOption {
  /** From `createPortal`. Without it, the server has no pages under `/portal`. */
  readonly portal?: Pages;
}

export const portal: Feature<PortalOption> = {
  connect: (_services, options) => options.portal,
  server: {
    settings: {
      'no-portal': { help: 'turn off the back office under /portal', isSetting: true },
      'open-registration': {
        help: 'let anyone who reaches the portal open a shop', isSetting: true,
      },
    },
    async load(settings) {
      const isOff = settings.readSwitch('no-portal');
      const openRegistration = settings.readSwitch('open-registration');
      if (isOff) return undefined;
      const createPortal = (await import('./portal.ts')).createPortal;
      const { baseUrl, dataFolder } = settings;
      const options = {
        portal: createPortal({
          openRegistration, uploadFolder: join(dataFolder, UPLOADS),
          ...(baseUrl !== undefined && { baseUrl }),
        }),
      };
      return { start: () => ({ options }) };
    },
  },
};
