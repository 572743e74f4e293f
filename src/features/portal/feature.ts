/** The portal: the back office under `/portal`, for sellers with a browser. */
import { join, resolve } from 'node:path';
import { type Parse, parseText, type Parsers, switchWith } from '../../domain/arguments.ts';
import { booleanValidator } from '../../domain/validation.ts';
import type { Feature, Pages } from '../../feature.ts';
import type { AccountStore } from '../../store/account-store.ts';
import { invite } from '../../store/invitation.ts';
import { UPLOADS } from '../../store/sqlite/files/data-folder-files.ts';
import { FIRST_CODE_LIFE_MS } from './limits.ts';
import type { PortalChoices, PortalOptions } from './portal.ts';
import { isPortalPath } from './route.ts';

export interface PortalOption {
  /** From `createPortal`. Without it, the server has no pages under `/portal`. */
  readonly portal?: Pages | undefined;
}

/** Whether a shop has the portal. */
export interface PortalShopOption {
  /** Whether to serve the back office under `/portal`, and how. Default false. */
  readonly portal?: boolean | PortalChoices;
}

/** Absolute: the program may change its working directory. */
const parsePath: Parse<string> = (value) => {
  const text = parseText(value);
  return 'error' in text ? text : { value: resolve(text.value) };
};

export const portal: Feature<PortalOption, PortalShopOption> = {
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
      const { baseUrl, dataFolder } = settings;
      const uploads = dataFolder === undefined ? {} : { uploadFolder: join(dataFolder, UPLOADS) };
      const options = { portal: loadOnDemand({ openRegistration, baseUrl, ...uploads }) };
      return {
        start: (store) => ({
          options,
          firstSteps: (url, commands) => describeFirstSteps(store, url, commands),
        }),
      };
    },
  },
  embed: {
    options: {
      portal: switchWith<PortalChoices>({
        openRegistration: booleanValidator.parse, uploadFolder: parsePath,
      }),
    } satisfies Parsers<PortalShopOption>,
    async start({ portal: option = false }, { baseUrl, clock }) {
      const pages = option === false ? undefined
        : loadOnDemand({ baseUrl, clock, isEmbedded: true, ...(option !== true && option) });
      return { options: { portal: pages } };
    },
  },
};

/** Creates an invitation for the first account. */
async function describeFirstSteps(
  store: AccountStore, url: string, commands: string,
): Promise<string> {
  const { code } = await invite(store, { isFirst: true, lifeMs: FIRST_CODE_LIFE_MS });
  return `
The database is empty. Open a shop in the portal with this code, which works once within a day:

Address: ${url}/portal/join
Code: ${code}

Or without the portal: ${commands}`;
}

/**
 * The portal whose code is loaded with the first request for a page: a fifth of the server's
 * modules, and 9 MiB, which sellers who only use the API never need.
 */
function loadOnDemand(options: PortalOptions): Pages {
  let loading: Promise<Pages> | undefined;
  const load = async (): Promise<Pages> => {
    const { createPortal } = await import('./portal.ts');
    return createPortal(options);
  };
  const getPages = (): Promise<Pages> => loading ??= load().catch((error: unknown) => {
    loading = undefined; // the next request tries again
    throw error;
  });
  return {
    isFor: isPortalPath,
    findMethods: async (path) => (await getPages()).findMethods(path),
    answer: async (page, services) => (await getPages()).answer(page, services),
    close: async () => (await loading?.catch(() => undefined))?.close?.(),
  };
}
