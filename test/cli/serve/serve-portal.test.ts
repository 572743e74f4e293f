/** `serve` with its portal: where uploads are stored. */
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

test('stores uploads in the data folder, without names, and stops during an import',
  async (t) => {
    const folder = join(makeFolder(t), 'data');
    const { port, stop } = await startServing(t, ['--data', folder]);
    const { user } = await openShop({ port, store: await openStore(t, { folder }) });
    await user.get('/portal/import');
    const answer = await user.submit({ file: new File([HEADER + makeRows(200_000)], 'a.csv') });
    const { location = '' } = answer.headers;
    const uploads = join(folder, 'uploads');
    assert.deepEqual(readdirSync(uploads), []);
    assert.equal(statSync(uploads).mode & 0o777, 0o700);
    while (!/Import now/.test(user.page?.text ?? '')) {
      await wait(POLL_MS); // a session may send ten requests a second
      await user.get(location);
    }
    await user.submit({ revision: user.valueOf('revision') });
    assert.equal(user.page?.status, 303);
    assert.equal(await stop('SIGTERM'), 0);
  });
