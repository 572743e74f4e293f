/** The proxies before `serve` whose word on the addresses of their clients counts. */
import { AppError } from '../../domain/error.ts';
import { TrustedProxies } from '../../http/request/client-address.ts';
import { type Flags, type Input, UsageError } from '../command.ts';

export const proxyFlags: Flags = {
  'trusted-proxies': {
    value: 'LIST', isSetting: true,
    help: 'proxies whose Forwarded or X-Forwarded-For counts; "unix" for those on a Unix socket',
  },
};

/** As `createApp` takes them. @throws UsageError */
export function readTrustedProxies({ flags }: Input): readonly string[] {
  const names = (flags['trusted-proxies'] ?? '').split(',').map((name) => name.trim());
  const proxies = names.filter((name) => name !== '');
  try {
    new TrustedProxies(proxies); // which says what is wrong with them
    return proxies;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new UsageError(`--trusted-proxies takes addresses with commas. ${error.publicDetail}`);
  }
}
