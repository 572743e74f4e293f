/** A server that has reached its limit of open files says so, once, and what to do. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';

test('says that it has reached its limit of open files, and answers again later', async (t) => {
  const { child, port, waitForNote, notes } = await startServing(t, [
    '--data', join(makeFolder(t), 'data'),
  ]);
  const setLimit = (files: number) =>
    spawnSync('prlimit', [`--pid=${child.pid}`, `--nofile=${files}:4096`]).status;
  const names = setLimit(1_024) === 0 ? readdirSync(`/proc/${child.pid}/fd`) : [];
  if (names.length === 0) return t.skip('needs Linux, and prlimit');
  // The lowest number that is free is the first that is not allowed.
  let lowestFree = 0;
  while (names.includes(String(lowestFree))) lowestFree += 1;
  assert.equal(setLimit(lowestFree), 0);
  await waitForNote(/its limit of open files, .* "ulimit -n", or LimitNOFILE= in the systemd/);
  await assert.rejects(send(port, { path: '/healthz' }), { code: 'ECONNRESET' });
  assert.equal(setLimit(1_024), 0);
  assert.equal((await send(port, { path: '/healthz' })).status, 200);
  assert.equal(notes().match(/ulimit/g)?.length, 1);
});
