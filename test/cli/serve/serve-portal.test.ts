/** `serve` with its portal: where what is uploaded goes. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { HEADER, makeRows } from '../../features/portal/imports/setup.ts';
import { openShop } from '../../features/portal/page-client.ts';
import { openStore } from '../../store/sqlite/open.ts';
import { startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';

const POLL_MS = 150;

test('keeps uploads in the data folder, without names, and stops while one is imported',
  async (t) => {
    const folder = join(makeFolder(t), 'data');
    const { port, stop } = await startServing(t, ['--data', folder]);
    const { visitor } = await openShop({ port, store: await openStore(t, { folder }) });
    await visitor.get('/portal/import');
    const answer = await visitor.submit({ file: new File([HEADER + makeRows(200_000)], 'a.csv') });
    const { location = '' } = answer.headers;
    const uploads = join(folder, 'uploads');
    assert.deepEqual(readdirSync(uploads), []);
    assert.equal(statSync(uploads).mode & 0o777, 0o700);
    while (!/Import now/.test(visitor.page?.text ?? '')) {
      await wait(POLL_MS); // a session may ask ten times a second
      await visitor.get(location);
    }
    await visitor.submit({ revision: visitor.valueOf('revision') });
    assert.equal(visitor.page?.status, 303);
    assert.equal(await stop('SIGTERM'), 0);
  });
