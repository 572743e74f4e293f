/** `move-to` as a command: its output in both directions. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { NO_POSTGRES } from '../../support/postgres/install.ts';
import { PASSWORD, USER } from '../../support/postgres/server.ts';
import { sharePostgres } from '../../support/postgres/shared-server.ts';
import { createKey, createSeller } from '../setup.ts';

describe('a moved catalogue', { skip: NO_POSTGRES, timeout: 180_000 }, () => {
  test('is verified to be equal in both directions, and the output says what to do', async (t) => {
    const folder = join(makeFolder(t), 'data');
    await createSeller(folder);
    await createKey(folder);
    const server = await sharePostgres();
    const url = `postgres://${USER}@127.0.0.1:${server.port}/${await server.createDatabase()}`;
    const environment = { PGPASSWORD: PASSWORD };
    const there = await run(['move-to', url, '--data', folder], environment);
    assert.equal(there.status, 0, there.notes);
    assert.match(there.out, /^table +rows +digest\nseller +1 +[\da-f]{64}\n/);
    assert.match(there.out, /\nMoved \d+ rows of 27 tables in .* Source and target are equal\.\n$/);
    assert.match(there.notes, /^Proving that source and target are equal\.$/m);
    assert.match(there.notes, /^Copy \S+server\.key to every server that uses the database/m);
    const again = await run(['move-to', url, '--data', folder], environment);
    assert.deepEqual([again.status, again.out], [1, '']);
    assert.match(again.notes, /^The database is not empty: its table seller has rows\./);
    const target = join(makeFolder(t), 'back');
    const back = ['move-to', target, '--database', url, '--json'];
    const early = await run(back, environment);
    assert.deepEqual([early.status, existsSync(target)], [1, false]);
    assert.match(JSON.parse(early.out).error.detail, /^Copy the server\.key that the servers use/);
    const data = makeFolder(t);
    copyFileSync(join(folder, 'server.key'), join(data, 'server.key'));
    const { status, out, notes } = await run(back.with(1, data), environment);
    assert.equal(status, 0, notes);
    const { tables, rows, seconds } = JSON.parse(out);
    assert.deepEqual([tables[0].table, tables[0].rows, typeof seconds], ['seller', 1, 'number']);
    assert.ok(there.out.includes(tables[0].digest));
    assert.equal(rows, tables.reduce((sum: number, one: { rows: number }) => sum + one.rows, 0));
    assert.equal((await run(['doctor', '--data', data])).status, 0);
    const sellers = await Promise.all([folder, data].map((one) =>
      run(['seller', 'list', '--data', one])));
    assert.equal(sellers[0]?.out, sellers[1]?.out);
  });
});
