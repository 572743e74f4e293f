/** `doctor` on PostgreSQL: finds nothing in what servers write, and names each kind of damage. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import { checkDatabase } from '../../../../src/store/postgres/check/doctor.ts';
import { migrate } from '../../../../src/store/postgres/schema/migrate.ts';
import { openPostgresStore } from '../../../../src/store/postgres/store.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeFolder } from '../../../support/folder.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import {
  PASSWORD, TEST_KEY, USER,
} from '../../../support/postgres/server.ts';
import { type SharedServer, sharePostgres } from '../../../support/postgres/shared-server.ts';
import { fillSample } from '../../sqlite/check/sample-folder.ts';

/** What an attacker or a broken disk may do to the sample, and what `doctor` reports. */
const DAMAGE: readonly (readonly [sql: string, finding: RegExp])[] = [
  ['DELETE FROM change WHERE position = (SELECT max(position) - 1 FROM change)',
    /^positions fault: The history of seller sel_\w+ has no change at position \d+/],
  ['UPDATE seller SET position = position + 1',
    /^positions fault: seller sel_\w+ is at position \d+, and its history ends at \d+/],
  ['DELETE FROM change_minute',
    /^positions fault: seller .* the times of its history end at 0/],
  ['UPDATE product SET stock = stock + 1',
    /^ledger fault: The stock of product prd_\w+ is \d+, and the sum of its movements is \d+/],
  [`UPDATE change SET stock_before = stock_before + 1 WHERE type = 'stock'`,
    /^ledger fault: The change of product prd_\w+ at position \d+ begins with a stock of/],
  ['DELETE FROM product WHERE id = (SELECT min(id) FROM product)',
    /^ledger fault: The change .* is its last, and the product does not exist/],
  [`UPDATE product SET name = 'Forged'`,
    /^descriptions fault: The newest snapshot of product prd_\w+ differs from the product/],
  [`UPDATE change SET product = left(product, 20) WHERE product IS NOT NULL`,
    /^snapshots fault: The change of product prd_\w+ at position \d+ has a snapshot that is not/],
  ['UPDATE stock_day SET units_in = units_in + 5',
    /^stock-days fault: The units that seller sel_\w+ moved on \d{4}-\d\d-\d\d .*: 5 more in/],
  ['DELETE FROM import', /^imports fault: The history has changes of import imp_\w+, which has no/],
  [`UPDATE import SET counts = '{}'`,
    /^imports fault: Import imp_\w+ made \d+ changes, and its record counts 0/],
  ['UPDATE webhook SET position = 999', /^webhooks fault: Webhook whk_\w+ is at position 999/],
  [`UPDATE account_email SET email = 'x@shop.example'`,
    /^accounts fault: Signing in does not find the account/],
  [`UPDATE audit_event SET subject = 'forged' WHERE n = 1`,
    /^audit-chain fault: The audit log of sel_\w+ is broken at event 1/],
  ['DELETE FROM audit_event WHERE (seller_id, n) IN '
    + '(SELECT seller_id, max(n) FROM audit_event GROUP BY seller_id)',
  /^audit-chain fault: The audit log of sel_\w+ ends at event \d+, but had \d+/],
  ['UPDATE audit_segment SET mac = sha256(mac)',
    /^audit-chain fault: The audit log of the server up to now does not match its authenticat/],
  ['DELETE FROM audit_segment WHERE seller_id = 0',
    /^audit-chain fault: Nothing authenticates the audit log of the server/],
  ['UPDATE webhook SET secret = sha256(secret)',
    /^secrets fault: The server's key cannot decrypt one of the webhook secrets of seller sel_/],
  ['DELETE FROM key_owner',
    /^references fault: Keys of seller sel_\w+ that requests do not find: 1/],
  ['DELETE FROM webhook_seller', /^references fault: Webhooks of seller .* no node delivers: 1/],
  ['DELETE FROM seller WHERE id = (SELECT min(id) FROM seller)',
    /^references fault: Rows of \w+ are of seller sel_\w+, who does not exist: \d+/],
];

const OPTIONS = { skip: NO_POSTGRES, concurrency: 4 };

describe('doctor on PostgreSQL', OPTIONS, () => {
  let server: SharedServer;
  let template: string;
  before(async () => {
    server = await sharePostgres();
    template = await server.createDatabase();
    const connect = server.localOptions(template);
    const connection = await openConnection(connect);
    await migrate(connection, TEST_KEY);
    await connection.close();
    const clock = makeClock();
    const store = await openPostgresStore({ connect, key: TEST_KEY, clock });
    await fillSample(store, clock).finally(() => store.close());
  });

  /** What `doctor` finds in a copy of the sample after a change by psql. */
  async function examine(folder: string, sql: string, query = ''): Promise<readonly string[]> {
    const database = await server.createDatabase(template);
    const connection = await openConnection(server.localOptions(database));
    await connection.run([{ text: sql, values: [] }]);
    await connection.close();
    const [serverKeyFile, passwordFile] = [join(folder, 'key'), join(folder, 'password')];
    writeFileSync(serverKeyFile, Buffer.alloc(32, 'test'), { mode: 0o600 });
    writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
    const url = `postgres://${USER}@127.0.0.1:${server.port}/${database}${query}`;
    const found: string[] = [];
    for await (const check of checkDatabase({ database: url, serverKeyFile, passwordFile })) {
      for (const { level, what, advice } of await check.find()) {
        found.push(`${check.name} ${level}: ${what}`, ...query && [advice]);
      }
    }
    return found;
  }

  test('finds nothing in what a server wrote, except risks of its settings', async (t) => {
    assert.deepEqual(await examine(makeFolder(t), 'SELECT 1'), [
      ...['fsync', 'full_page_writes', 'synchronous_commit'].map((name) => `durability fault: ${
        name} is off: a crash of the server can lose or damage acknowledged writes.`),
      'durability note: Pages of the database have no checksums.',
    ]);
  });

  for (const [sql, finding] of DAMAGE) {
    test(`reports: ${sql}`, async (t) => {
      const found = await examine(makeFolder(t), sql);
      assert.ok(found.some((text) => finding.test(text)), found.join('\n'));
    });
  }

  test('names the limits that the role lacks behind a pooler in transaction mode', async (t) => {
    const folder = makeFolder(t);
    const query = '?pool_mode=transaction';
    const found = await examine(folder, 'SELECT 1', query);
    const text = found.join('\n');
    assert.match(text, new RegExp('limits warning: Sessions behind the pooler have no idle_in_trans'
      + 'action_session_timeout, no lock_timeout, no statement_timeout, no tcp_user_timeout: '));
    assert.match(text, /Run ALTER ROLE "seller_api" SET idle_\w+ = '10000ms'; ALTER/);
    const limited = await examine(folder, `DO $$ BEGIN
      EXECUTE 'ALTER DATABASE ' || current_database() || ' SET statement_timeout = 5000';
      EXECUTE 'ALTER DATABASE ' || current_database() || ' SET lock_timeout = 1000';
      EXECUTE 'ALTER DATABASE ' || current_database() || ' SET tcp_user_timeout = 1000';
      END $$`, query);
    assert.match(limited.join('\n'),
      /limits warning: Sessions behind the pooler have no idle_in_\w+_timeout: /);
  });

  test('shows the first findings of many, and continues after an unreadable row', async (t) => {
    const folder = makeFolder(t);
    const many = await examine(folder, `
      INSERT INTO audit_event (seller_id, n, at, type, address, subject, hash)
      SELECT 0, n, 1, 'x', '', '', sha256('') FROM generate_series(1, 2000) AS n`);
    assert.equal(many.filter((text) => text.startsWith('audit-chain fault')).length, 20);
    assert.equal(many.at(-1), 'audit-chain warning: There are more findings of this kind.');
    const unreadable = await examine(folder, `UPDATE import SET counts = 'no JSON'`);
    assert.deepEqual(unreadable.filter((text) => !text.startsWith('durability')),
      ['imports fault: It cannot be read: invalid input syntax for type json.']);
  });
});
