/** Limits of data, however it arrives. */

/** Lengths of a product's texts; longer ones fit no shop page or barcode label. */
export const NAME_LIMIT_CODE_POINTS = 200;
export const CATEGORY_LIMIT_CODE_POINTS = 100;
export const SKU_LIMIT_CODE_POINTS = 64;
/** SKUs in an error about a shared barcode; a response may have thousands of such errors. */
export const BARCODE_PRODUCTS_NAMED_LIMIT = 5;
/** Id that an embedding program gives a seller; e-mail addresses, URLs and paths fit. */
export const EXTERNAL_ID_LIMIT_CODE_POINTS = 200;
/** Terms of a search; each is a condition, and few products differ in more words. */
export const SEARCH_TERMS_LIMIT = 8;
/** Description of a product: two pages of text. */
export const DESCRIPTION_LIMIT_CODE_POINTS = 5_000;
/** Pairs of a product's metadata, and the lengths of names and values; ids and URLs fit. */
export const METADATA_PAIRS_LIMIT = 20;
export const METADATA_NAME_LIMIT_CODE_POINTS = 40;
export const METADATA_VALUE_LIMIT_CODE_POINTS = 500;
/** Prices are below this, in the major unit; minor units then stay exact integers. */
export const PRICE_LIMIT = 1e12;
/** Largest stock; sums over a catalogue stay exact integers. */
export const STOCK_LIMIT = 1_000_000_000;

/** Reason of a stock movement, and name of the system that reported it; both are in every event. */
export const REASON_LIMIT_CODE_POINTS = 200;
export const SOURCE_LIMIT_CODE_POINTS = 64;
/** Name of an account, or of an actor without a key; it is in each of the actor's events. */
export const ACTOR_LIMIT_CODE_POINTS = 100;
/** Name of an imported file; the longest that most file systems allow. */
export const FILE_NAME_LIMIT_CODE_POINTS = 255;
/** Changes of one stock request in JSON; they are one transaction. */
export const STOCK_CHANGES_LIMIT = 10_000;
/** Changes of a stock request that one time slice validates; it takes a few milliseconds. */
export const STOCK_SLICE_CHANGES = 1_000;
/** Errors listed for one stock change; a response has thousands of results. */
export const ISSUES_PER_CHANGE_LIMIT = 10;
/** Errors listed in one response; the rest are counted. */
export const ISSUES_PER_RESPONSE_LIMIT = 50;

/** Name of an API key, and the address ranges that it may be used from; both fit on a page. */
export const KEY_NAME_LIMIT_CODE_POINTS = 100;
export const KEY_ADDRESS_RANGES_LIMIT = 32;
/** Keys of a seller that are neither revoked nor expired; a list shows them all. */
export const LIVE_KEYS_PER_SELLER_LIMIT = 1_000;
/** Largest rate limit of a server or a key, in requests a minute; no server handles more. */
export const RATE_LIMIT_PER_MINUTE_MAX = 10_000_000;
/** Longest life of a key and longest overlap of a rotation, ten years; longer means forever. */
export const DURATION_LIMIT_MS = 3_653 * 24 * 60 * 60 * 1000;

/** Default overlap of a key's rotation; programs are updated within a day. */
export const KEY_OVERLAP_DEFAULT = '24h';
/** Accounts of a seller, with the people who are invited; a page lists them all. */
export const ACCOUNTS_PER_SELLER_LIMIT = 100;
/** Lifetime of an invitation code; people may read the message days later. */
export const INVITATION_CODE_LIFE_MS = 7 * 24 * 60 * 60 * 1000;

/** Webhooks of a seller; every change is sent to each. */
export const WEBHOOKS_PER_SELLER_LIMIT = 20;
/** URL of a webhook; the length that all software supports. */
export const WEBHOOK_URL_LIMIT_CHARACTERS = 2_048;
/** Description of a webhook; it fits on a page. */
export const WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS = 200;
/** Default time for which a rotated secret keeps signing; a receiver is updated within a day. */
export const WEBHOOK_OVERLAP_DEFAULT = '24h';

/** E-mail address of an account; the longest that SMTP can deliver to (RFC 5321). */
export const EMAIL_LIMIT_CHARACTERS = 254;
/** Length of a password; NIST SP 800-63B-4 asks for length, and hashing needs a bound. */
export const PASSWORD_MIN_CODE_POINTS = 12;
export const PASSWORD_LIMIT_CODE_POINTS = 256;
/** Passwords hashed concurrently, each in 64 MiB and on a thread; and these plus waiting ones. */
export const CONCURRENT_PASSWORD_HASHES_LIMIT = 2;
export const PASSWORD_HASH_QUEUE_LIMIT = 512;
/** Of these, those of one lane, such as a seller, and of one owner, such as an account. */
export const PASSWORD_HASH_LANE_LIMIT = 32;
export const PASSWORD_HASHES_PER_OWNER_LIMIT = 2;
/** Time until a password without a place in the queue is rejected; most take less to hash. */
export const PASSWORD_REJECTION_MS = 1_000;

/** Passkeys of an account; more than anyone has devices. */
export const PASSKEYS_PER_ACCOUNT_LIMIT = 20;
/** Name of a passkey; it fits on a page. */
export const PASSKEY_NAME_LIMIT_CODE_POINTS = 60;
/** Id of a passkey's credential; the longest that WebAuthn allows. */
export const CREDENTIAL_ID_LIMIT_BYTES = 1_023;
/** Client data and CBOR of a passkey response; those of known authenticators take 8 KiB at most. */
export const CLIENT_DATA_LIMIT_BYTES = 4 * 1024;
export const CBOR_LIMIT_BYTES = 16 * 1024;
/** Depth and items of CBOR; attestation objects have 3 levels and fewer than 50 items. */
export const CBOR_DEPTH_LIMIT = 8;
export const CBOR_ITEMS_LIMIT = 256;
