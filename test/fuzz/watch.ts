/**
 * Watches the rows of a server's database from another connection: whether a rejected request wrote
 * something, and whether data of a seller who sends no requests ever changes.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Aggregates over everything that a request can change. They leave out what the server records by
 * itself: last use of keys and sessions, deliveries, and the audit log, which records rejections.
 */
const AGGREGATES: readonly string[] = [
  'SELECT count(*), sum(position), sum(pruned_to), sum(length(name)) FROM seller',
  `SELECT count(*), sum(position), sum(price_minor), sum(stock), sum(length(name)),
    sum(length(category)), sum(length(sku)), sum(id % 1000003) FROM product`,
  'SELECT count(*), sum(sequence) FROM stock_sequence',
  'SELECT count(*) FROM idempotency',
  `SELECT count(*), sum(length(url)), sum(length(description)), group_concat(status),
    group_concat(types), group_concat(hex(secret)), sum(updated_at % 1000003) FROM webhook`,
  `SELECT count(*), sum(length(name)), sum(expires_at % 1000003), sum(revoked_at % 1000003),
    count(expires_at), count(revoked_at) FROM api_key`,
  `SELECT count(*), group_concat(password), group_concat(email), group_concat(locale),
    group_concat(time_zone), sum(is_password_off), count(totp_secret) FROM account`,
  'SELECT sum(low_stock) FROM seller',
  'SELECT count(*) FROM recovery_code',
  'SELECT count(*), group_concat(name), sum(sign_count) FROM passkey',
  'SELECT count(*), sum(id % 1000003) FROM session',
  'SELECT count(*) FROM invitation',
];

/** The rows of a seller, without what the server records by itself. */
const OWN_ROWS: readonly string[] = [
  'SELECT id, name, currency, position, last_product_id, pruned_to FROM seller WHERE id = ?',
  'SELECT * FROM product WHERE seller_id = ? ORDER BY id',
  'SELECT * FROM change WHERE seller_id = ? ORDER BY position',
  'SELECT * FROM stock_sequence WHERE seller_id = ? ORDER BY product_id, source',
  'SELECT * FROM idempotency WHERE seller_id = ? ORDER BY key_hash, part',
  `SELECT id, url, description, types, status, secret, old_secret, updated_at FROM webhook
    WHERE seller_id = ? ORDER BY id`,
  `SELECT id, hash, name, scopes, address_ranges, expires_at, revoked_at FROM api_key
    WHERE seller_id = ? ORDER BY id`,
  'SELECT * FROM account WHERE seller_id = ?',
  'SELECT * FROM recovery_code WHERE seller_id = ? ORDER BY hash',
  'SELECT * FROM passkey WHERE seller_id = ? ORDER BY account_id, id',
  'SELECT id, hash FROM session WHERE seller_id = ? ORDER BY id',
  'SELECT * FROM invitation WHERE seller_id = ? ORDER BY hash',
  'SELECT * FROM audit_event WHERE seller_id = ? ORDER BY n',
];

export class Watch {
  readonly #database: DatabaseSync;
  #version = -1;
  #summary = '';

  constructor(folder: string) {
    this.#database = new DatabaseSync(join(folder, 'catalogue.db'), { readOnly: true });
  }

  /** A text that differs once a request has changed any row. */
  summarize(): string {
    // `data_version` changes with each commit of another connection; this one commits nothing.
    const { data_version: version } = this.#database.prepare('PRAGMA data_version').get() ?? {};
    if (version === this.#version) return this.#summary;
    this.#version = Number(version);
    this.#summary = AGGREGATES.map((sql) => JSON.stringify(this.#read(sql))).join('\n');
    return this.#summary;
  }

  /** A digest of every row of a seller. */
  digestSeller(sellerId: number): string {
    const digest = createHash('sha256');
    for (const sql of OWN_ROWS) digest.update(JSON.stringify(this.#read(sql, sellerId)));
    return digest.digest('hex');
  }

  close(): void {
    this.#database.close();
  }

  #read(sql: string, ...values: readonly number[]) {
    return this.#database.prepare(sql).all(...values);
  }
}
