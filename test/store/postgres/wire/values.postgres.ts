/** Parameters and results against a real server: values survive a round trip. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import type { Connection } from '../../../../src/store/postgres/wire/connection.ts';
import { PostgresError } from '../../../../src/store/postgres/wire/errors.ts';
import type { Parameter, Row } from '../../../../src/store/postgres/wire/values.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { sharePostgres } from '../../../support/postgres/shared-server.ts';

const AWKWARD = [
  '', ' ', 'NULL', 'null', '{}', '{,}', ',', '"', '""', '\\', '\\\\', '\\"', '"\\', "'", '\n\r\t',
  '\u0001', '$1', ':a', '\u00e4', '\u20ac', '\u{1f600}', '\ufeff', '\u0000'.slice(1), '\\x41',
  ' leading and trailing ', 'a'.repeat(600), '\u{1f600}"\\'.repeat(300),
];

describe('values', { skip: NO_POSTGRES }, () => {
  let connection: Connection;

  before(async () => {
    const server = await sharePostgres();
    connection = await openConnection(server.connectOptions(await server.createDatabase()));
  });
  after(() => connection.close());

  async function select(text: string, ...values: readonly Parameter[]): Promise<Row | undefined> {
    const [result] = await connection.run([{ text, values }]);
    return result?.rows[0];
  }

  test('have the matching JavaScript types', async () => {
    assert.deepEqual(await select(`SELECT 1::int2 AS a, -2::int4 AS b, 9007199254740991 AS c,
      -9007199254740991 AS d, 1.5::float8 AS e, 'NaN'::float8 AS f, '-Infinity'::float4 AS g,
      1.50::numeric AS h, true AS i, false AS j, '\\x00ff'::bytea AS k, ''::bytea AS l, 'x' AS m,
      NULL::int8 AS n, count(*) AS o, 12::oid AS p, 0.1::float8 AS q, 1e300::float8 AS r`), {
      a: 1, b: -2, c: Number.MAX_SAFE_INTEGER, d: Number.MIN_SAFE_INTEGER, e: 1.5, f: NaN,
      g: -Infinity, h: '1.50', i: 1, j: 0, k: Buffer.of(0, 255), l: Buffer.of(), m: 'x',
      n: null, o: 1, p: 12, q: 0.1, r: 1e300,
    });
  });

  test('reject integers that a number cannot represent, and keep the connection', async () => {
    for (const text of ['SELECT 9007199254740992', 'SELECT -9223372036854775808']) {
      await assert.rejects(connection.run([{ text, values: [] }]), /an integer beyond 2\^53/);
    }
    assert.equal(connection.isOpen, true);
  });

  test('are returned unchanged, alone and in arrays', async () => {
    for (const text of AWKWARD) {
      assert.deepEqual(await select('SELECT $1::text AS a', text), { a: text });
    }
    const [result] = await connection.run([{
      text: 'SELECT * FROM unnest($1::text[], $2::text[]) AS t (a, b)',
      values: [AWKWARD, AWKWARD.map((text) => text === '' ? null : `${text}${text}`)],
    }]);
    assert.deepEqual(result?.rows, AWKWARD.map((text) =>
      ({ a: text, b: text === '' ? null : `${text}${text}` })));
  });

  test('are returned unchanged: random arrays of text', async () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647; // Lehmer: repeatable
      return seed % below;
    };
    const letters = [...'"\\{},\' NULx\n\t\u00e4\u{1f600}:$'];
    for (let round = 0; round < 50; round += 1) {
      const texts = Array.from({ length: random(40) }, () => random(8) === 0 ? null
        : Array.from({ length: random(12) }, () => letters[random(letters.length)]).join(''));
      const [result] = await connection.run([{
        text: 'SELECT a FROM unnest($1::text[]) AS t (a)', values: [texts],
      }]);
      assert.deepEqual(result?.rows.map((row) => row['a']), texts);
    }
  });

  test('of other types are returned from arrays', async () => {
    const numbers = [0, -1, 1.5, 1e21, -1e-7, Number.MAX_SAFE_INTEGER, null];
    const bytes = [Buffer.of(), Buffer.of(0, 34, 92, 255), null, new Uint8Array([1])];
    const [result] = await connection.run([{
      text: 'SELECT * FROM unnest($1::float8[], $2::bytea[]) AS t (n, b)',
      values: [numbers, bytes],
    }]);
    assert.deepEqual(result?.rows, numbers.map((n, index) => {
      const b = bytes[index] ?? null;
      return { n, b: b && Buffer.from(b) };
    }));
    assert.deepEqual(await select('SELECT count(*) AS n FROM unnest($1::int8[])', []), { n: 0 });
  });

  test('with every byte are returned unchanged', async () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    assert.deepEqual(await select('SELECT $1::bytea AS a, $2::text AS b, $3::bytea AS c',
      all, null, new Uint8Array()), { a: Buffer.from(all), b: null, c: Buffer.of() });
  });

  test('of several megabytes are returned unchanged', async () => {
    const text = 'x\u20ac'.repeat(2_000_000);
    const row = await select('SELECT $1::text AS a, md5($1::text) AS b', text);
    assert.equal(row?.['a'], text);
  });

  test('with NUL, or of a type that PostgreSQL does not have, fail alone', async () => {
    const good = connection.run([{ text: 'SELECT 1 AS a', values: [] }]);
    await assert.rejects(select('SELECT $1::text', 'a\0b'), (error) =>
      error instanceof PostgresError && error.sqlstate === '22021');
    // The casts: what the types forbid.
    for (const value of [undefined, {}, 1n, Symbol('x'), [[1]], [{}]] as unknown as Parameter[]) {
      await assert.rejects(select('SELECT $1::text', value), /PostgreSQL has no parameter of type/);
    }
    await assert.rejects(select('SELECT \0'), /contains NUL/);
    assert.deepEqual((await good)[0]?.rows, [{ a: 1 }]);
    assert.deepEqual(await select('SELECT 2 AS a'), { a: 2 });
  });
});
