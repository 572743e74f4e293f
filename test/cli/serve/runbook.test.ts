/** The runbook: each fault is caused, looks as it says, and ends with its steps. */
import assert from 'node:assert/strict';
import { globSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { DAY_MS } from '../../../src/domain/time.ts';
import { eventually } from '../../store/contract/fixture.ts';
import { damage } from '../../store/sqlite/check/sample-folder.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { fillDisk, freeDisk, mountSmallDisk } from '../../support/small-disk.ts';
import { createKey, createSeller } from '../setup.ts';
import {
  assertSeen, createProduct, findBlock, findProduct, makeServiceFolder, startService,
} from './runbook-service.ts';

/** LD_PRELOAD of what gives processes another time, from a file; Debian's package libfaketime. */
const [FAKETIME] = globSync('/usr/lib/*/faketime/libfaketime.so.1');
const NO_FAKETIME = FAKETIME === undefined
  && 'NOT TESTED: needs libfaketime. On Debian: apt-get install libfaketime';

/** A server on a data folder, with a seller and a key. */
async function startOnFolder(
  t: TestContext,
  { data = '', flags = [], environment = {}, programs = {} }: {
    readonly data?: string; readonly flags?: readonly string[];
    readonly environment?: NodeJS.ProcessEnv;
    readonly programs?: Readonly<Record<string, string>>;
  } = {},
) {
  const folder = makeServiceFolder(t);
  const [place, backups] = [data === '' ? join(folder, 'data') : data, join(folder, 'backups')];
  mkdirSync(backups);
  await createSeller(place);
  const { key } = await createKey(place);
  const service = await startService({
    folder, flags: ['--data', place, ...flags], programs,
    environment: { DATA: place, BACKUPS: backups, ...environment },
  });
  let count = 0;
  return {
    ...service, data: place, backups, key,
    create: () => createProduct(service, key, `S-${count += 1}`),
    find: (sku: string) => findProduct(service, key, sku),
  };
}

test('full disk', async (t) => {
  const disk = mountSmallDisk(t, '1200k');
  if (disk === undefined) return;
  const service = await startOnFolder(t, { data: join(disk, 'data') });
  fillDisk(disk);
  let answer = await service.create();
  for (let n = 0; n < 2_000 && answer.status === 201; n += 1) answer = await service.create();
  assert.equal(answer.status, 507);
  const ready = await service.ready();
  assert.equal(ready.status, 503);
  assertSeen('full-disk', answer.text, ready.text);
  assert.match(await service.runSteps('full-disk'), /catalogue\.db/);
  freeDisk(disk);
  assert.equal((await service.create()).status, 201);
});

test('lost data folder', async (t) => {
  const service = await startOnFolder(t);
  assert.equal((await service.create()).status, 201);
  const moved = `${service.data}.moved`;
  renameSync(service.data, moved);
  const answer = await service.create();
  assert.equal(answer.status, 503);
  assert.equal((await service.ready()).status, 503);
  await eventually(() => assertSeen('lost-folder', answer.text, service.log()));
  await service.runSteps('lost-folder', { MOVED: moved });
  assert.deepEqual([(await service.create()).status, await service.find('S-1')], [201, 200]);
});

test('wrong clock', { skip: NO_FAKETIME }, async (t) => {
  const folder = makeFolder(t);
  const file = join(folder, 'time');
  /** Sets the clock of the server and of the shell. */
  const setClock = (days: number): void => {
    writeFileSync(join(folder, 'time.new'), `${days < 0 ? '' : '+'}${days}d\n`);
    renameSync(join(folder, 'time.new'), file);
  };
  setClock(0);
  const service = await startOnFolder(t, {
    flags: ['--history-days', '365'],
    environment: {
      LD_PRELOAD: FAKETIME, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    programs: {
      timedatectl: `if [ "$1" = set-ntp ]; then echo +0d >'${file}'
        else echo 'System clock synchronized: no'; fi`,
    },
  });
  const { key } = await createKey(service.data, ['--expires', '1d']);
  const retry = { 'idempotency-key': 'a' };
  const first = await createProduct(service, service.key, 'S-1', retry);
  assert.equal(first.status, 201);
  for (const days of [40, -40]) {
    setClock(days);
    await service.execute('systemctl restart seller-api');
    // The first run of a job may end after the server listens.
    if (days > 0) await eventually(() => assertSeen('clock', service.log()));
    assert.equal((await createProduct(service, service.key, `S-${days}`)).status, 201);
    assert.equal(await findProduct(service, key, 'S-1'), days > 0 ? 401 : 200);
    assert.equal((await createProduct(service, service.key, 'S-1', retry)).text, first.text);
    const steps = await service.runSteps('clock');
    assert.match(steps, /synchronized: no/);
    const [wrong = 0, right = 0] = [...steps.matchAll(/^date: (.*)$/gim)]
      .map(([, date = '']) => Date.parse(date) - Date.now());
    assert.ok(Math.abs(wrong - days * DAY_MS) < 60_000 && Math.abs(right) < 60_000, steps);
    assert.equal(await findProduct(service, key, 'S-1'), 200);
  }
  const { products } = (await service.call(service.key, 'GET', 'products')).json();
  assert.deepEqual(products.map(({ position }: { position: number }) => position), [1, 2, 3]);
  assert.equal((await run(['doctor', '--data', service.data])).status, 0);
});

test('a catalogue that has become smaller gives its space back', async (t) => {
  const service = await startOnFolder(t);
  assert.equal((await service.create()).status, 201);
  const file = join(service.data, 'catalogue.db');
  await service.execute('systemctl stop seller-api');
  const db = new DatabaseSync(file);
  db.exec('CREATE TABLE big (x); INSERT INTO big VALUES (randomblob(1000000)); DROP TABLE big');
  db.close();
  await service.execute('systemctl start seller-api');
  const before = statSync(file).size;
  await service.runSteps('shrink');
  assert.ok(statSync(file).size < before - 900_000);
  assert.deepEqual([(await service.create()).status, await service.find('S-1')], [201, 200]);
  assert.equal((await run(['doctor', '--data', service.data])).status, 0);
});

test('a backup with faults, and a restore', async (t) => {
  const service = await startOnFolder(t);
  assert.equal((await service.create()).status, 201);
  const backup = async (name: string): Promise<string> => {
    const file = join(service.backups, name);
    assert.equal((await run(['backup', file, '--data', service.data])).status, 0);
    return file;
  };
  const good = await backup('catalogue-20261121T093000Z.db');
  damage(service.data, 'UPDATE product SET stock = 7');
  const bad = await backup('catalogue-20261122T093000Z.db');
  const listed = await service.execute(`{ ${findBlock('steps', 'backups')} } || true`);
  assert.deepEqual(listed.match(/^fault.*$/gm)?.length, 1, listed);
  assert.ok(listed.indexOf('fault') > listed.indexOf(bad) && listed.includes(good));
  await service.runSteps('restore', { BACKUP: good });
  assert.equal((await service.ready()).status, 200);
  assert.deepEqual([(await service.create()).status, await service.find('S-1')], [201, 200]);
});

test('a certificate that is about to expire', async (t) => {
  const folder = makeFolder(t);
  const write = (days: number): void => {
    const { cert, key } = makeCertificate({ notAfter: new Date(Date.now() + days * 86_400_000) });
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem.new'), key, { mode: 0o600 });
    renameSync(join(folder, 'key.pem.new'), join(folder, 'key.pem'));
  };
  write(3);
  const service = await startOnFolder(t, {
    flags: ['--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem')],
  });
  write(90);
  assert.match(await service.runSteps('certificate'), /Reloaded the certificate: .* valid until/);
});
