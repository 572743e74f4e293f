/** Imports designed to be expensive: they end, and delay no other request. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { CONCURRENT_IMPORTS_PER_SELLER_LIMIT } from '../../../src/api/limits.ts';
import { startServer } from '../../support/server.ts';
import { countTo } from '../../store/contract/fixture.ts';
import { CSV_HEADER, IMPORT, sendFile } from './import.ts';
import { assertProblem } from '../../api/problem.ts';

for (const [type, row] of [['text/csv', CSV_HEADER], ['application/x-ndjson', '{}\n']] as const) {
  test(`rejects too many blank lines, even in a small gzip body (${type})`, async (t) => {
    const server = await startServer(t);
    const seller = await server.makeSeller();
    const body = gzipSync(row + '\n'.repeat(1_000_000));
    const answer = await sendFile(seller, { body, type, headers: { 'content-encoding': 'gzip' } });
    assert.match(answer.text, /10000 blank lines/);
  });
}

test('serves other requests between the rows of one body', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const body = '{}\n'.repeat(20_000);
  const query = 'report=failed&dry_run=true';
  const answer = await sendFile(seller, { body, query, type: 'application/x-ndjson' });
  clearImmediate(next);
  assert.match(answer.text, /"failed":20000/);
  assert.ok(turns >= 200, `${turns}`);
});

test('rejects an import over the limit of its seller, and none of another seller', async (t) => {
  const server = await startServer(t);
  const [one, other] = [await server.makeSeller(), await server.makeSeller()];
  const open = countTo(CONCURRENT_IMPORTS_PER_SELLER_LIMIT).map(() => {
    const outgoing = request({
      host: '127.0.0.1', port: server.port, method: 'POST', path: IMPORT, agent: false,
      headers: { 'x-api-key': one.key, 'content-type': 'text/csv' },
    });
    outgoing.on('error', () => {}); // destroyed below
    outgoing.write(CSV_HEADER);
    return outgoing;
  });
  const file = { body: `${CSV_HEADER}Mug,K,M-1,1,1\n` };
  let answer = await sendFile(one, file);
  while (answer.status === 200) answer = await sendFile(one, file); // until all imports started
  assertProblem(answer, 503, 'unavailable');
  assert.equal(answer.headers['retry-after'], '5');
  assert.equal((await sendFile(other, file)).status, 200);
  for (const outgoing of open) outgoing.destroy();
  while (answer.status !== 200) answer = await sendFile(one, file); // until they ended
  assert.deepEqual(server.reports, []);
});
