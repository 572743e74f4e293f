/** Where the password of a connection is found, and which files are not read. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parseDatabaseUrl } from '../../../../src/store/postgres/connect/database-url.ts';
import { makeFolder } from '../../../support/folder.ts';

const LINES = String.raw`
# h:5432:d:u:comment
h:5432:d:u:first
h:5432:d:u:second
\*:5432:d:u:star
*:7:d:u:port
h:*:other:u:database
*:*:*:a\:b:with\:colon\\
localhost:5432:*:socket:default folder
/tmp/s:5432:*:socket:other folder
2001\:db8\:\:1:5432:d:u:v6
h:5432:empty:u:
`;

async function find(t: TestContext, url: string, mode = 0o600): Promise<string | undefined> {
  const file = join(makeFolder(t), 'passwords');
  writeFileSync(file, LINES);
  chmodSync(file, mode);
  const options = parseDatabaseUrl(url, { PGPASSFILE: file });
  const [server] = options.servers;
  assert.ok(server);
  return options.findPassword(server);
}

for (const [url, password] of [
  ['postgres://u@h/d', 'first'], ['postgres://u@other:7/d', 'port'],
  ['postgres://u@h/other', 'database'], ['postgres://a%3Ab@h/x', String.raw`with:colon\ `.trim()],
  ['postgres://socket@%2Fvar%2Frun%2Fpostgresql/d', 'default folder'],
  ['postgres://socket@/d?host=/tmp/s', 'other folder'],
  ['postgres://u@[2001:db8::1]/d', 'v6'], ['postgres://u@other/d', undefined],
  ['postgres://nobody@h/d', undefined], ['postgres://u@h/empty', ''],
] as const) {
  test(`finds ${password === undefined ? 'nothing' : `"${password}"`} for ${url}`, async (t) => {
    assert.equal(await find(t, url), password);
  });
}

test('reads no file that the group or others may access', async (t) => {
  for (const mode of [0o640, 0o604, 0o620, 0o666]) {
    await assert.rejects(find(t, 'postgres://u@h/d', mode),
      /password file ".*passwords" has group or world access; permissions should be u=rw \(0600\)/);
  }
  assert.equal(await find(t, 'postgres://u@h/d', 0o400), 'first');
});

test('prefers PGPASSWORD, then passfile, then PGPASSFILE', async (t) => {
  const [first, second] = ['first', 'second'].map((name) => {
    const file = join(makeFolder(t), name);
    writeFileSync(file, `*:*:*:*:${name}\n`, { mode: 0o600 });
    return file;
  });
  const server = { host: 'h', port: 5432, sslMode: 'disable' } as const;
  const url = `postgres://u@h/d?passfile=${first}`;
  const files = { PGPASSFILE: second };
  const password = (from: string, environment: Record<string, string | undefined>) =>
    parseDatabaseUrl(from, environment).findPassword(server);
  assert.equal(await password(url, { ...files, PGPASSWORD: 'variable' }), 'variable');
  assert.equal(await password(url, files), 'first');
  assert.equal(await password('postgres://u@h/d', files), 'second');
  assert.equal(await password('postgres://u@h/d', { PGPASSFILE: '/missing/file' }), undefined);
  await assert.rejects(password('postgres://u@h/d', { PGPASSFILE: '/tmp' }), /not a plain file/);
});
