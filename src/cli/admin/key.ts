/**
 * `key create`, `key list`, `key rotate` and `key revoke`. The secret of a key is the one thing on
 * standard output, so that `KEY=$(... key create --name N)` takes it; all else goes beside it.
 */
import {
  type ApiKey, generateApiKey, hashApiKey, parseNewApiKey,
} from '../../domain/access/api-key.ts';
import { parseDuration } from '../../domain/duration.ts';
import { AppError } from '../../domain/error.ts';
import {
  formatKeyId, formatSellerId, type KeyId, type KeyReference, parseKeyId, parseSellerId,
  type SellerId,
} from '../../domain/id.ts';
import { SCOPES } from '../../domain/access/scope.ts';
import { formatTime } from '../../domain/time.ts';
import type { Store } from '../../store/store.ts';
import { type Command, type Input, UsageError } from '../command.ts';
import { readAllPages } from '../pages.ts';
import { formatTable } from '../table.ts';
import { withStore } from '../with-store.ts';

const DEFAULT_OVERLAP = '24h';
const SELLER_FLAG = { value: 'ID', help: 'whose key; needed where there are several sellers' };

export const createKey: Command = {
  summary: 'Creates an API key and shows it, this once.',
  operands: [],
  flags: {
    seller: SELLER_FLAG,
    name: { value: 'NAME', help: 'what the key is for (required)' },
    scopes: { value: 'LIST', help: `comma-separated, of ${SCOPES.join(', ')} (default: all)` },
    expires: { value: 'DURATION', help: 'how long it is valid, such as 90d (default: for ever)' },
    allow: { value: 'LIST', help: 'addresses or CIDR ranges it may be used from, comma-separated' },
  },
  async run(input) {
    const { flags, dataFolder } = input;
    if (flags['name'] === undefined) throw new UsageError('Give --name NAME: what the key is for.');
    const expires = flags['expires'];
    const newKey = parseNewApiKey({
      name: flags['name'],
      scopes: splitList('scopes', flags['scopes']),
      addressRanges: splitList('allow', flags['allow']),
      expiresAt: expires === undefined ? undefined : Date.now() + parseDuration(expires),
    });
    const secret = generateApiKey();
    const key = await withStore(dataFolder, async (store) =>
      store.createKey(await findSeller(store, flags['seller']), hashApiKey(secret), newKey));
    show(input, 'is created', key, secret);
  },
};

export const listKeys: Command = {
  summary: 'Lists the keys of a seller, the ended ones among them, but never the secrets.',
  operands: [],
  flags: { seller: SELLER_FLAG },
  async run({ flags, isJson, dataFolder, out, note }) {
    const keys = await withStore(dataFolder, async (store) => {
      const sellerId = await findSeller(store, flags['seller']);
      return readAllPages<KeyId, ApiKey>((query) => store.listKeys(sellerId, query));
    });
    const rows = keys.map(describe);
    if (isJson) out(JSON.stringify({ keys: rows }));
    else if (rows.length === 0) note('There is no key yet. Create one: key create --name NAME');
    else out(formatTable(rows));
  },
};

export const rotateKey: Command = {
  summary: 'Creates a key like the given one, which goes on to be valid for a while.',
  operands: ['KEY_ID'],
  flags: {
    overlap: {
      value: 'DURATION', help: `how long the old key stays valid (default: ${DEFAULT_OVERLAP})`,
    },
  },
  async run(input) {
    const { operands, flags, dataFolder } = input;
    const old = readKeyId(operands[0]);
    const overlap = flags['overlap'] ?? DEFAULT_OVERLAP;
    const overlapMs = parseDuration(overlap);
    const secret = generateApiKey();
    const key = await withStore(dataFolder, (store) =>
      store.rotateKey(old, hashApiKey(secret), overlapMs));
    show(input, `replaces ${operands[0]}, which ends in ${overlap} at the latest`, key, secret);
  },
};

export const revokeKey: Command = {
  summary: 'Ends a key at once: its next request is refused.',
  operands: ['KEY_ID'],
  flags: {},
  async run({ operands, isJson, dataFolder, out }) {
    const key = await withStore(dataFolder, (store) => store.revokeKey(readKeyId(operands[0])));
    out(isJson ? JSON.stringify(describe(key)) : `Key ${operands[0]} is revoked.`);
  },
};

function show(input: Input, what: string, key: ApiKey, secret: string): void {
  if (input.isJson) {
    input.out(JSON.stringify({ ...describe(key), key: secret }));
    return;
  }
  input.note(`Key ${describe(key).id} (${key.name}) ${what}. Keep it now, it is not shown again:`);
  input.out(secret);
}

/** The seller that was named, or the only one there is. */
async function findSeller(store: Store, id: string | undefined): Promise<SellerId> {
  if (id !== undefined) {
    const sellerId = parseSellerId(id);
    if (sellerId !== undefined && await store.findSeller(sellerId)) return sellerId;
    if (sellerId !== undefined) throw new AppError('not_found', 'There is no such seller.');
    const hint = '"seller list" shows the ids.';
    throw new AppError('invalid_data', `"${id}" is not the id of a seller; ${hint}`);
  }
  const [only, another] = await store.listSellers({ after: undefined, limit: 2 });
  if (another) throw new UsageError('There are several sellers: say which one with --seller ID.');
  if (only) return only.id;
  throw new AppError('not_found', 'There is no seller yet. Create one: seller create NAME');
}

function readKeyId(text = ''): KeyReference {
  const key = parseKeyId(text);
  if (key) return key;
  throw new AppError('invalid_data', `"${text}" is not the id of a key; "key list" shows the ids.`);
}

/** An empty list would mean "all" where somebody meant "none": it is refused. */
function splitList(flag: string, text: string | undefined): string[] {
  if (text === undefined) return [];
  const items = text.split(',').map((item) => item.trim()).filter(Boolean);
  if (items.length > 0) return items;
  throw new UsageError(`--${flag} takes at least one: a scope, or an address or range.`);
}

function describe(key: ApiKey) {
  return {
    id: formatKeyId({ sellerId: key.sellerId, keyId: key.id }),
    seller: formatSellerId(key.sellerId),
    name: key.name,
    scopes: key.scopes,
    allow: key.addressRanges,
    created_at: formatTime(key.createdAt),
    expires_at: formatOptionalTime(key.expiresAt),
    revoked_at: formatOptionalTime(key.revokedAt),
    last_used_at: formatOptionalTime(key.lastUsedAt),
    last_used_address: key.lastUsedAddress ?? null,
  };
}

function formatOptionalTime(at: number | undefined): string | null {
  return at === undefined ? null : formatTime(at);
}
