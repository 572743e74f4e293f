/** The portal's imports with two `serve` processes on one database, behind any proxy. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openStore } from '../../../src/store/open-store.ts';
import { act, readPage } from '../../features/portal/imports/page-setup.ts';
import { HEADER, makeRows } from '../../features/portal/imports/setup.ts';
import { openShop, PageClient } from '../../features/portal/page-client.ts';
import { startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { NO_POSTGRES } from '../../support/postgres/install.ts';
import { PASSWORD } from '../../support/postgres/server.ts';
import { type SharedServer, sharePostgres } from '../../support/postgres/shared-server.ts';
import { makeDatabase } from './setup.ts';

/** Delays each batch of an import by 1.5 s: one of 20 batches takes half a minute. */
const SLOW_WRITES = [`
  CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_sleep(1.5);
    RETURN NULL;
  END $$`, `
  CREATE TRIGGER slow AFTER INSERT ON change FOR EACH STATEMENT EXECUTE FUNCTION slow()`];
/** A session may send ten requests a second. */
const POLL_MS = 150;

/** The same browser session, whose next request reaches another node. */
function moveTo(port: number, { cookies, page }: PageClient): PageClient {
  const moved = new PageClient(port);
  for (const [name, value] of cookies) moved.cookies.set(name, value);
  moved.page = page;
  return moved;
}

/** Polls a page until its text matches, and returns the text. */
async function read(user: PageClient, path: string, wanted: RegExp): Promise<string> {
  for (;;) {
    const { text } = readPage(await user.get(path));
    if (wanted.test(text)) return text;
    await wait(POLL_MS);
  }
}

describe('two processes on one database', { skip: NO_POSTGRES }, () => {
  let server: SharedServer;
  before(async () => { server = await sharePostgres(); });

  test('import files that the other one received, even after it was killed', async (t) => {
    const folder = makeFolder(t);
    const { succeed, flags, environment, url, keyFile, query } = await makeDatabase(server, folder);
    await succeed('migrate');
    const [a, b] = await Promise.all([1, 2].map(() => startServing(t, flags, environment)));
    assert.ok(a && b);
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
    const store = await openStore({ database: url, serverKeyFile: keyFile, passwordFile });
    t.after(() => store.close());
    const { user: onA } = await openShop({ port: a.port, store });
    const receive = async (text: string): Promise<string> => {
      await onA.get('/portal/import');
      const { status, headers } = await onA.submit({ file: new File([text], 'products.csv') });
      assert.equal(status, 303);
      return headers.location ?? '';
    };

    const small = await receive(`${HEADER}${makeRows(3)}Bad,Kitchen,BAD-1,cheap,1\n`);
    const onB = moveTo(b.port, onA);
    await read(onB, small, /Will be created 3 .* Will be rejected 1 /);
    await act(onB, 'commit');
    assert.match(await read(onA, small, /rejected\. /), /3 of 4 rows imported; 1 rejected\./);
    const rejected = await onA.get(`${small}/rejected`);
    assert.match(rejected.text, /"price: Write a plain number.*",Bad,Kitchen,BAD-1,cheap,1\r/);

    const waiting = await receive(HEADER + makeRows(4));
    await read(onA, waiting, /Import now/);
    const large = await receive(HEADER + makeRows(20_000, 10));
    await read(onA, large, /Import now/);
    for (const text of SLOW_WRITES) await query(text); // so that the kill precedes the end
    await act(onA, 'commit');
    await read(onB, large, /Importing.* Created [1-9]/);
    await a.stop('SIGKILL');
    await query('UPDATE import_job SET seen_at = seen_at - 15000 WHERE is_running = 1');
    const failed = await read(onB, large, /import failed/);
    assert.match(failed, /The import failed after [\d,]+ rows: The server stopped\. Imported rows/);
    await onB.get(waiting);
    await act(onB, 'commit');
    await read(onB, waiting, /Import complete: 4 rows\./);
    assert.equal(await b.stop('SIGTERM'), 0);
  });
});
