/** The two schemas agree with each other, and their constraints with the limits in the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadLimits } from '../limits/limits.ts';

const STORE = join(import.meta.dirname, '../../src/store');
const sqlite = readSchema('sqlite');
const postgres = readSchema('postgres');

interface Column {
  readonly isRequired: boolean;
  /** The text of its CHECK; empty without one. */
  readonly check: string;
}

/** The columns of each table, as `table.column`, and its sentence. */
function readSchema(engine: 'sqlite' | 'postgres') {
  const text = readFileSync(join(STORE, engine, 'schema/schema.sql'), 'utf8');
  const columns = new Map<string, Column>();
  const undescribed: string[] = [];
  for (const statement of text.split(/;$/m)) {
    const [, before = '', table, body = ''] =
      /^([^]*)CREATE (?:UNLOGGED )?TABLE (\w+) \(([^]*)\)/.exec(statement) ?? [];
    if (table === undefined) continue;
    if (!/^-- [A-Z](?:.*\n--)*.*\.\n$/m.test(before)) undescribed.push(table);
    for (const [name, definition] of splitDefinitions(body)) {
      const check = /CHECK \((.*)\)$/.exec(definition)?.[1] ?? '';
      const isRequired = /NOT NULL|PRIMARY KEY/.test(definition);
      columns.set(`${table}.${name}`, { isRequired, check });
    }
  }
  return { columns, undescribed };
}

/** Names and definitions of columns: what is before the constraints of the table. */
function splitDefinitions(body: string): readonly (readonly [name: string, text: string])[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const character of body.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ')) {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0;
    if (character === ',' && depth === 0) parts.push('');
    else parts.push((parts.pop() ?? '') + character);
  }
  return parts.map((part) => part.trim().replaceAll('( ', '('))
    .filter((part) => /^[a-z]/.test(part))
    .map((part) => [part.replace(/ .*/, ''), part] as const);
}

/** What PostgreSQL needs in addition; `move/tables.ts` derives most of it. */
const ONLY_POSTGRES = new RegExp('^(?:seller\\.(?:last_at|webhook_version)|change\\.batch'
  + '|product\\.(?:name_key|search_text)'
  + '|(?:key_owner|setting|node|webhook_seller|webhook_lease|import_job|import_job_chunk|throttle'
  + '|rate_lease)\\..*)$');
/** Compared as a list in PostgreSQL, and one by one in SQLite, where that is faster. */
const WRITTEN_DIFFERENTLY = ['change.type'];

describe('the schemas', () => {
  test('describe each table in a sentence', () => {
    assert.deepEqual([sqlite.undescribed, postgres.undescribed], [[], []]);
  });

  test('have the same columns, each required and checked in both or in neither', () => {
    const shared = [...postgres.columns].filter(([name]) => !ONLY_POSTGRES.test(name)
      && !WRITTEN_DIFFERENTLY.includes(name));
    const expected = [...sqlite.columns].filter(([name]) => !name.startsWith('server_secret.')
      && !WRITTEN_DIFFERENTLY.includes(name));
    assert.deepEqual(new Map(shared.toSorted()), new Map(expected.toSorted()));
    assert.ok(expected.length > 150, String(expected.length));
  });
});

/** The limit that the CHECK of each column repeats. */
const LIMITS: Readonly<Record<string, readonly string[]>> = {
  NAME_LIMIT_CODE_POINTS: ['product.name', 'seller.name'],
  CATEGORY_LIMIT_CODE_POINTS: ['product.category'],
  SKU_LIMIT_CODE_POINTS: ['product.sku'],
  DESCRIPTION_LIMIT_CODE_POINTS: ['product.description'],
  STOCK_LIMIT: [
    'product.stock', 'product.low_stock', 'seller.low_stock', 'change.stock_before',
    'change.stock_after',
  ],
  REASON_LIMIT_CODE_POINTS: ['change.reason'],
  SOURCE_LIMIT_CODE_POINTS: ['change.source', 'stock_sequence.source', 'import.source'],
  ACTOR_LIMIT_CODE_POINTS: [
    'change.actor', 'import.actor', 'audit_event.actor', 'account.name', 'invitation.name',
    'api_key.created_by', 'webhook.created_by',
  ],
  FILE_NAME_LIMIT_CODE_POINTS: ['import.file_name'],
  KEY_NAME_LIMIT_CODE_POINTS: ['api_key.name'],
  EMAIL_LIMIT_CHARACTERS: ['account.email', 'account_email.email'],
  PASSKEY_NAME_LIMIT_CODE_POINTS: ['passkey.name'],
  CREDENTIAL_ID_LIMIT_BYTES: ['passkey.credential_id'],
  USER_AGENT_LIMIT_CHARACTERS: ['session.user_agent'],
  COLUMN_MAPPING_LIMIT_CHARACTERS: ['column_mapping.columns'],
  SAVED_FILTER_NAME_LIMIT_CODE_POINTS: ['saved_filter.name'],
  SAVED_FILTER_LIMIT_CHARACTERS: ['saved_filter.query'],
  WEBHOOK_URL_LIMIT_CHARACTERS: ['webhook.url'],
  WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS: ['webhook.description'],
};
/** Bounds that follow from a format or another limit, or are far above what the server writes. */
const OTHERS = [
  'account.locale', 'account.password', 'account.time_zone', 'account.totp_secret',
  'audit_event.address', 'audit_event.subject', 'audit_event.type', 'passkey.public_key',
  'passkey.rp_id', 'passkey.sign_count', 'passkey.transports', 'product.barcode',
  'product.metadata', 'product.price_minor', 'seller.currency_decimals', 'session.address',
  'stock_day.units_in', 'stock_day.units_out', 'webhook.message_event', 'webhook.message_id',
  'webhook.old_secret', 'webhook.secret', 'webhook_attempt.detail', 'webhook_attempt.message_id',
  'webhook_attempt.outcome', 'webhook_attempt.status',
];

describe('the constraints', () => {
  /** The highest number that each CHECK allows. */
  const bounds = new Map([...sqlite.columns].flatMap(([name, { check }]) => {
    const [, bound] = /(?:BETWEEN \d+ AND|<=) (\d+)$/.exec(check) ?? [];
    return bound === undefined ? [] : [[name, Number(bound)] as const];
  }));

  test('repeat the limits of the code', async () => {
    const limits = new Map([...(await loadLimits()).values()].flat()
      .map(({ name, value }) => [name, value]));
    for (const [limit, columns] of Object.entries(LIMITS)) {
      for (const name of columns) assert.equal(bounds.get(name), limits.get(limit), name);
    }
    // Three decimals is the most that a currency has.
    assert.equal(bounds.get('product.price_minor'), Number(limits.get('PRICE_LIMIT')) * 1000 - 1);
    assert.deepEqual([...bounds.keys()].toSorted(),
      [...Object.values(LIMITS).flat(), ...OTHERS].toSorted());
  });
});
