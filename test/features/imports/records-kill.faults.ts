/** A server is killed during imports: their records state exactly what was written. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { generateApiKey, toStoredSecret } from '../../../src/domain/access/api-key.ts';
import { makeNewKey, makeSeller } from '../../store/contract/fixture.ts';
import { openStore } from '../../store/sqlite/open.ts';
import { type Serving, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { assertHealthy } from '../../support/health.ts';
import { send } from '../../support/http.ts';
import { CSV_HEADER, IMPORT, makeRows } from './import.ts';

const ROWS = 3_500;
const FILE = CSV_HEADER + makeRows(ROWS);
const QUERY = 'report=all&file_name=shop.csv';

test('keeps exact records of imports that kill -9 interrupted', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const { key, sellerId } = await prepareSeller(t, folder);
  for (const batches of [1, 2]) {
    const serving = await serve(t, folder);
    await killAfterLines(serving, key, `k-${batches}`, batches * 1_000);
    const store = await openStore(t, { folder });
    const [record] = await store.listImports(sellerId, { before: undefined, limit: 1 });
    assert.ok(record);
    const { changes } = await store.listChanges(
      sellerId, { after: 0, limit: 10_000, importId: record.id },
    );
    await store.close();
    assert.equal(record.finishedAt, undefined);
    const { created = 0, unchanged = 0 } = record.counts;
    assert.ok(created + unchanged >= batches * 1_000 && created + unchanged < ROWS);
    assert.equal(changes.length, created);
    assert.deepEqual([changes[0]?.position, changes.at(-1)?.position],
      [record.firstPosition, record.lastPosition]);
  }
  assertHealthy(folder);

  const serving = await serve(t, folder);
  const answer = await send(serving.port, {
    method: 'POST', path: `${IMPORT}?${QUERY}`, headers: headersOf(key, 'k-2'), body: FILE,
  });
  const { summary } = JSON.parse(answer.text.trimEnd().split('\n').at(-1) ?? '');
  const headers = { 'x-api-key': key };
  const { imports } = (await send(serving.port, { path: '/api/v1/imports', headers })).json();
  assert.deepEqual(imports.map((one: { id: string; finished_at: string | null }) =>
    [one.id === summary.import, one.finished_at !== null]), [[true, true], [false, false]]);
  const { created, updated, unchanged, failed } = summary;
  assert.deepEqual(imports[0].counts, { created, updated, unchanged, failed, skipped: 0 });
  assert.equal(created + unchanged, ROWS);
  assert.equal(await serving.stop('SIGTERM'), 0);
  assertHealthy(folder);
});

async function prepareSeller(t: TestContext, folder: string) {
  const store = await openStore(t, { folder });
  const { id } = await makeSeller(store);
  const key = generateApiKey();
  await store.createKey(id, toStoredSecret(key), makeNewKey());
  await store.close();
  return { key, sellerId: id };
}

function serve(t: TestContext, folder: string): Promise<Serving> {
  return startServing(t, ['--data', folder, '--rate-limit', '0']);
}

function headersOf(key: string, idempotencyKey: string) {
  return { 'x-api-key': key, 'content-type': 'text/csv', 'idempotency-key': idempotencyKey };
}

/** Sends a file without its end, and kills the server after it has reported `lines` rows. */
async function killAfterLines(
  serving: Serving, key: string, idempotencyKey: string, lines: number,
): Promise<void> {
  const outgoing = request({
    host: '127.0.0.1', port: serving.port, method: 'POST', path: `${IMPORT}?${QUERY}`,
    headers: headersOf(key, idempotencyKey),
  });
  outgoing.on('error', () => {}); // the server is killed
  outgoing.write(FILE.slice(0, -100));
  const [response] = await once(outgoing, 'response') as [IncomingMessage];
  let reported = 0;
  response.setEncoding('utf8').on('error', () => {});
  for await (const text of response) {
    reported += String(text).split('\n').length - 1;
    if (reported >= lines) break;
  }
  assert.equal(await serving.stop('SIGKILL'), null);
  outgoing.destroy();
}
