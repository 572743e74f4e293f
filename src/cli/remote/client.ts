/**
 * The client of the commands that talk to a running server: its address and API key come from
 * flags, the environment, a file or a profile. The key is never printed.
 */
import { DEFAULT_HOST, DEFAULT_PORT } from '../limits.ts';
import { PAGE_SIZE_LIMIT } from '../../api/limits.ts';
import { COMMAND_RETRIES, ROWS_SHOWN } from './limits.ts';
import { type ClientOptions, type Position, SellerClient } from '../../client/index.ts';
import { type ApiKeySecret, parseApiKey } from '../../domain/access/api-key.ts';
import { type Command, type Input, setting, UsageError } from '../command.ts';
import { readNumber, readSettingFile, readUrl } from '../settings.ts';
import { findProfile } from './profile-file.ts';

export const DEFAULT_URL = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;
const KEY_VARIABLE = 'SELLER_API_KEY';

export const URL_FLAG = { url: setting('URL', `address of the server (default: ${DEFAULT_URL})`) };

export const SERVER_FLAGS = {
  ...URL_FLAG,
  profile: setting('NAME', 'use the address and the key of this profile'),
  'key-file': {
    value: 'FILE', help: `file with the API key (default: the variable ${KEY_VARIABLE})`,
  },
};

export const LIMIT_FLAG = {
  value: 'N', range: [1, PAGE_SIZE_LIMIT], help: `at most this many (default: ${ROWS_SHOWN})`,
} as const;

/** A command that talks to a server, which its flags name. */
export function remoteCommand(command: Omit<Command, 'isRemote'>): Command {
  return { ...command, flags: { ...SERVER_FLAGS, ...command.flags }, isRemote: true };
}

/**
 * The client for the server and the key that the input names. A failure of its requests is
 * explained by `explainFailure`.
 * @throws UsageError, CommandFailure
 */
export function openClient(
  input: Input, options: Omit<ClientOptions, 'baseUrl' | 'key'> = {},
): SellerClient {
  const { url: baseUrl, key } = findServer(input);
  if (!key) {
    throw new UsageError(`Give your API key in the variable ${KEY_VARIABLE}, with --key-file, or`
      + ' with --profile ("profile add" saves one).');
  }
  // Without the check, Node's `fetch` would send the key to any server that answers.
  if (input.environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    throw new UsageError('NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates, and'
      + ' your API key could be read. Unset it, and name the certificate of a private authority in'
      + ' NODE_EXTRA_CA_CERTS.');
  }
  return new SellerClient({ retries: COMMAND_RETRIES, ...options, baseUrl, key });
}

/** For commands that need no key, or only use one. @throws UsageError, CommandFailure */
export function findServer(input: Input): { readonly url: string; readonly key?: ApiKeySecret } {
  const profile = findProfile(input);
  if (profile) return profile;
  const key = findKey(input);
  return { url: readUrl(input.flags, 'url') ?? DEFAULT_URL, ...(key && { key }) };
}

/** @throws UsageError, CommandFailure */
function findKey({ flags, environment }: Input): ApiKeySecret | undefined {
  const file = flags['key-file'];
  const text = file === undefined ? environment[KEY_VARIABLE] : readSettingFile(file).text;
  if (file === undefined && !text) return undefined;
  const key = parseApiKey((text ?? '').trim());
  if (key) return key;
  const where = file ?? `The variable ${KEY_VARIABLE}`;
  throw new UsageError(`${where} has no valid API key, which is spk_ and 36 characters.`);
}

/** The first rows of a list: as many as `--limit` says. */
export function takeRows<Row>(
  { flags }: Input, list: (limit: number) => AsyncIterable<Row>,
): Promise<Row[]> {
  const limit = readNumber(flags, 'limit', ROWS_SHOWN);
  return take(list(limit), limit);
}

/** The first items of a list, without a request for another page. */
export async function take<Item>(list: AsyncIterable<Item>, limit: number): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) if (items.push(item) === limit) break;
  return items;
}

/** The position of the catalogue now. Needs the scope `products:read`. */
export async function findPosition({ products }: SellerClient): Promise<Position> {
  // An export has the position, and nothing has changed since the end of all positions.
  const file = await products.export({ format: 'ndjson', changedSince: Number.MAX_SAFE_INTEGER });
  for await (const _ of file); // reads it to its end
  return file.position;
}
