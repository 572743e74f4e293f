/** The limits of the data, wherever it comes from; those of the server are in `config.ts`. */

export const NAME_LIMIT_CODE_POINTS = 200;
export const CATEGORY_LIMIT_CODE_POINTS = 100;
export const SKU_LIMIT_CODE_POINTS = 64;
/** Prices are below this, in the currency's major unit. */
export const PRICE_LIMIT = 1e12;
export const STOCK_LIMIT = 1_000_000_000;

/** Why stock moved, and the name of the system that said so. */
export const REASON_LIMIT_CODE_POINTS = 200;
export const SOURCE_LIMIT_CODE_POINTS = 64;
/** Changes of one call in JSON. */
export const STOCK_CHANGES_LIMIT = 10_000;
/** Changes of a call that are looked at in one turn of the event loop. */
export const STOCK_SLICE_CHANGES = 1_000;
/** Faults that the result of one change names: there are thousands of results in an answer. */
export const ISSUES_PER_CHANGE_LIMIT = 10;

export const KEY_NAME_LIMIT_CODE_POINTS = 100;
export const KEY_ADDRESS_RANGES_LIMIT = 32;
/** Keys of one seller that are neither revoked nor expired. */
export const LIVE_KEYS_PER_SELLER_LIMIT = 1_000;
/** The longest life of a key, and the longest overlap of a rotation: ten years. */
export const DURATION_LIMIT_MS = 3_653 * 24 * 60 * 60 * 1000;
/** Faults that one answer names; the rest are counted. */
export const ISSUES_PER_RESPONSE_LIMIT = 50;

/** Endpoints of webhooks of one seller. */
export const WEBHOOKS_PER_SELLER_LIMIT = 20;
export const WEBHOOK_URL_LIMIT_CHARACTERS = 2_048;
export const WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS = 200;
/** How long the old secret of an endpoint goes on signing unless a rotation says otherwise. */
export const WEBHOOK_OVERLAP_DEFAULT = '24h';

/** Accounts of the portal. */
export const EMAIL_LIMIT_CHARACTERS = 254;
export const PASSWORD_MIN_CODE_POINTS = 12;
export const PASSWORD_LIMIT_CODE_POINTS = 256;
/** Passwords that are hashed at once, each in 64 MiB, and that wait for it. */
export const CONCURRENT_PASSWORD_HASHES_LIMIT = 2;
export const PASSWORD_HASH_QUEUE_LIMIT = 32;
