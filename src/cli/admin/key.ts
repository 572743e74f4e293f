/**
 * `key create`, `key list`, `key rotate` and `key revoke`. Only the secret of a new key goes to
 * standard output, so that `KEY=$(... key create --name N)` works; the rest goes to standard error.
 */
import {
  type ApiKey, describeKey, generateApiKey, parseNewApiKey, toStoredSecret,
} from '../../domain/access/api-key.ts';
import { parseDuration } from '../../domain/time.ts';
import { AppError } from '../../domain/error.ts';
import { type KeyId, type KeyReference, parseKeyId, type SellerId } from '../../domain/id.ts';
import { KEY_OVERLAP_DEFAULT, RATE_LIMIT_PER_MINUTE_MAX } from '../../domain/limits.ts';
import { SCOPES } from '../../domain/access/caller.ts';
import type { AccessStore } from '../../store/access-store.ts';
import { listAll } from '../../store/list-all.ts';
import { type Command, type Result, UsageError } from '../command.ts';
import { listResult } from '../format.ts';
import { splitList } from '../settings.ts';
import { withStore } from '../with-store.ts';
import { getSeller } from './seller.ts';

const SELLER_FLAG = { value: 'ID', help: 'seller id; required if there are several sellers' };

export const createKey: Command = {
  summary: 'Creates an API key and prints it. It is never shown again.',
  flags: {
    seller: SELLER_FLAG,
    name: { value: 'NAME', help: 'what the key is used for (required)' },
    scopes: {
      value: 'LIST', choices: SCOPES, isList: true, help: 'comma-separated (default: all)',
    },
    expires: { value: 'DURATION', help: 'lifetime, such as 90d (default: no expiry)' },
    allow: { value: 'LIST', help: 'client addresses or CIDR ranges, comma-separated' },
    'rate-limit': {
      value: 'N', range: [1, RATE_LIMIT_PER_MINUTE_MAX],
      help: 'requests per minute, if lower than the server\'s limit per key',
    },
  },
  async run({ flags, location }) {
    const { name, expires, 'rate-limit': rate } = flags;
    if (name === undefined) throw new UsageError('Give --name NAME: what the key is used for.');
    const newKey = parseNewApiKey({
      name,
      scopes: readList('scopes', flags['scopes']),
      addressRanges: readList('allow', flags['allow']),
      expiresAt: expires === undefined ? undefined : Date.now() + parseDuration(expires),
      rateLimitPerMinute: rate === undefined ? undefined : Number(rate),
    });
    const secret = generateApiKey();
    const key = await withStore(location, async (store) =>
      store.createKey(await findSeller(store, flags['seller']), toStoredSecret(secret), newKey));
    return newKeyResult(key, secret, '');
  },
};

export const listKeys: Command = {
  summary: 'Lists the keys of a seller, including revoked and expired ones; never the secrets.',
  flags: { seller: SELLER_FLAG },
  async run({ flags, location }) {
    const keys = await withStore(location, async (store) => {
      const sellerId = await findSeller(store, flags['seller']);
      return Array.fromAsync(
        listAll<KeyId, ApiKey>((query) => store.listKeys(sellerId, query)));
    });
    const hint = 'There is no key yet. Create one: key create --name NAME';
    return listResult('keys', keys.map(describeKey), hint);
  },
};

export const rotateKey: Command = {
  summary: 'Replaces a key with a new one like it; both work during an overlap.',
  operands: ['KEY_ID'],
  flags: {
    overlap: {
      value: 'DURATION', help: `how long the old key stays valid (default: ${KEY_OVERLAP_DEFAULT})`,
    },
  },
  async run({ operands, flags, location }) {
    const old = readKeyId(operands[0]);
    const { overlap = KEY_OVERLAP_DEFAULT } = flags;
    const overlapMs = parseDuration(overlap);
    const secret = generateApiKey();
    const key = await withStore(location, (store) =>
      store.rotateKey(old, toStoredSecret(secret), overlapMs));
    return newKeyResult(key, secret,
      ` It replaces ${operands[0]}, which expires within ${overlap}.`);
  },
};

export const revokeKey: Command = {
  summary: 'Revokes a key immediately: its next request is rejected.',
  operands: ['KEY_ID'],
  async run({ operands, location }) {
    const key = await withStore(location, (store) => store.revokeKey(readKeyId(operands[0])));
    return { document: describeKey(key), text: `Revoked key ${operands[0]}.` };
  },
};

function newKeyResult(key: ApiKey, secret: string, sentence: string): Result {
  const described = describeKey(key);
  return {
    document: { ...described, key: secret },
    note: `Created key ${described.id} (${key.name}).${sentence} Copy it, it is not shown again:`,
    text: secret,
  };
}

/** The given seller; without an id, the only one. */
async function findSeller(store: AccessStore, id: string | undefined): Promise<SellerId> {
  if (id !== undefined) return (await getSeller(store, id)).id;
  const [only, another] = await store.listSellers({ after: undefined, limit: 2 });
  if (another) throw new UsageError('There are several sellers. Choose one with --seller ID.');
  if (only) return only.id;
  throw new AppError('not_found', 'There is no seller yet. Create one: seller create NAME');
}

/** @throws UsageError */
function readKeyId(text = ''): KeyReference {
  const key = parseKeyId(text);
  if (key) return key;
  throw new UsageError(`"${text}" is not a key id. "key list" shows the ids.`);
}

/** Rejects an empty list, which would mean "all" to the domain but "none" to the user. */
function readList(flag: string, text: string | undefined): string[] {
  const items = splitList(text ?? '');
  if (text === undefined || items.length > 0) return items;
  throw new UsageError(`--${flag} needs at least one ${flag === 'allow' ? 'address' : 'scope'}.`);
}
