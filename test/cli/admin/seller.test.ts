/** `seller create`, `list`, `disable`, `enable` and `delete`, as a user types them. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { createKey, createSeller, look } from '../setup.ts';

const ID = /^sel_[0-9a-v]{11}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('creates a seller and prints only its id on standard output', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const { status, out, notes } = await run(['seller', 'create', 'My “shop”', '--data', folder]);
  assert.equal(status, 0, notes);
  assert.match(out.trimEnd(), ID);
  assert.match(notes, /My “shop”.*EUR/);
});

test('creates a seller and prints it as one JSON document', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const args = ['seller', 'create', 'My shop', '--currency', 'KWD', '--data', folder, '--json'];
  const { status, out, notes } = await run(args);
  assert.equal(status, 0, notes);
  assert.equal(notes, '');
  const { id, created_at: createdAt, ...rest } = JSON.parse(out);
  assert.match(id, ID);
  assert.match(createdAt, TIME);
  assert.deepEqual(rest, {
    name: 'My shop', external_id: null, currency: 'KWD', position: 0, disabled_at: null,
  });
});

test('lists the sellers in the order of their creation', async (t) => {
  const folder = makeFolder(t);
  const ids: string[] = [];
  for (const name of ['First', 'Second shop', 'Third']) {
    ids.push((await run(['seller', 'create', name, '--data', folder])).out.trimEnd());
  }
  const json = await run(['seller', 'list', '--data', folder, '--json']);
  const table = await run(['seller', 'list', '--data', folder]);
  assert.deepEqual([json.status, table.status], [0, 0]);
  const { sellers, ...others } = JSON.parse(json.out);
  assert.deepEqual(others, {});
  assert.deepEqual(sellers.map((seller: { id: string }) => seller.id), ids);
  assert.deepEqual(Object.keys(sellers[0]), [
    'id', 'name', 'external_id', 'currency', 'position', 'created_at', 'disabled_at',
  ]);

  const [header, ...lines] = table.out.trimEnd().split('\n');
  assert.match(header ?? '',
    /^id +name +external_id +currency +position +created_at +disabled_at$/);
  assert.deepEqual(lines.map((line) => line.split(' ')[0]), ids);
  const column = header?.indexOf('name') ?? NaN;
  assert.deepEqual(lines.map((line) => line.slice(column).split(/ {2,}/)[0]), [
    'First', 'Second shop', 'Third',
  ]);
});

test('disables a seller immediately in a running server, and enables it', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const ids = [await createSeller(folder), await createSeller(folder)] as const;
  const keys = [
    await createKey(folder, ['--seller', ids[0]]), await createKey(folder, ['--seller', ids[1]]),
  ];
  const { port } = await startServing(t, ['--data', folder]);
  const ask = () => Promise.all(keys.map(async ({ key }) =>
    (await send(port, { path: '/api/v1/products', headers: { 'x-api-key': key } })).status));
  assert.deepEqual(await ask(), [200, 200]);
  const disabled = await run(['seller', 'disable', ids[0], '--data', folder]);
  assert.deepEqual([disabled.status, disabled.out], [0, 'Disabled seller "A shop".\n']);
  assert.deepEqual(await ask(), [401, 200]);
  const { out } = await run(['seller', 'list', '--data', folder, '--json']);
  const times = JSON.parse(out).sellers.map((seller: any) => seller.disabled_at);
  assert.match(times[0], TIME);
  assert.equal(times[1], null);
  const enabled = await run(['seller', 'enable', ids[0], '--data', folder, '--json']);
  assert.equal(JSON.parse(enabled.out).disabled_at, null);
  assert.deepEqual(await ask(), [200, 200]);
});

test('names a seller by its external id', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const ofFolder = (...args: string[]) => run([...args, '--data', folder, '--json']);
  const made = JSON.parse(
    (await ofFolder('seller', 'create', 'Mugs', '--external-id', 'user/7')).out);
  assert.equal(made.external_id, 'user/7');
  const key = await ofFolder('key', 'create', '--name', 'Till', '--seller', 'user/7');
  assert.equal(key.status, 0, key.notes);
  const keys = await ofFolder('key', 'list', '--seller', 'user/7');
  assert.equal(JSON.parse(keys.out).keys.length, 1);
  const disabled = await ofFolder('seller', 'disable', 'user/7');
  assert.deepEqual([disabled.status, JSON.parse(disabled.out).id], [0, made.id]);
  const deleted = await ofFolder('seller', 'delete', 'user/7', '--yes');
  assert.deepEqual([deleted.status, JSON.parse(deleted.out).id], [0, made.id]);
  const again = await ofFolder('seller', 'delete', made.id, '--yes');
  assert.deepEqual(JSON.parse(again.out), JSON.parse(deleted.out));
});

test('deletes only a disabled seller, and only with --yes or a confirmation', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const id = await createSeller(folder);
  const enabled = await run(['seller', 'delete', id, '--yes', '--data', folder]);
  assert.deepEqual([enabled.status, enabled.out], [1, '']);
  assert.match(enabled.notes, /^Disable the seller first, then delete it\./);
  await run(['seller', 'disable', id, '--data', folder]);
  const silent = await run(['seller', 'delete', id, '--data', folder]);
  assert.deepEqual([silent.status, silent.out], [2, '']);
  assert.match(silent.notes, /There is no terminal to ask for confirmation: add --yes\./);
  const { out } = await run(['seller', 'list', '--data', folder, '--json']);
  assert.deepEqual(JSON.parse(out).sellers.map((seller: any) => seller.id), [id]);
});

test('rejects an unknown seller, by its id or external id', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await look(folder, async () => {});
  for (const [id, says] of [
    ['sel_00000000001', /^No seller has the id or external id "sel_00000000001"\. "seller list"/],
    ['anna', /^No seller has the id or external id "anna"\. "seller list" shows the ids\./],
  ] as const) {
    for (const command of ['disable', 'enable']) {
      const unknown = await run(['seller', command, id, '--data', folder]);
      assert.deepEqual([unknown.status, unknown.out], [1, '']);
      assert.match(unknown.notes, says);
    }
  }
});

test('says how to create a seller if there is none', async (t) => {
  const folder = makeFolder(t);
  await look(folder, async () => {}); // creates a catalogue without sellers
  const plain = await run(['seller', 'list', '--data', folder]);
  const json = await run(['seller', 'list', '--data', folder, '--json']);
  assert.deepEqual([plain.status, plain.out], [0, '']);
  assert.match(plain.notes, /seller create NAME/);
  assert.deepEqual([json.status, JSON.parse(json.out), json.notes], [0, { sellers: [] }, '']);
});

const invalidArguments: readonly [what: string, args: readonly string[], says: RegExp][] = [
  ['no name', [], /Give NAME/],
  ['a name in two words without quotes', ['My', 'shop'], /quotes/],
  ['a blank name', ['  '], /name.*blank/],
  ['a name of two lines', ['My\nshop'], /name.*control characters/],
  ['a name that is too long', ['x'.repeat(201)], /name.*200/],
  ['an unknown currency', ['My shop', '--currency', 'XYZ'], /"XYZ" is not a currency.*EUR/],
  ['a currency in small letters', ['My shop', '--currency', 'eur'], /capitals/],
  ['a currency without a value', ['My shop', '--currency'], /--currency/],
];

for (const [what, args, says] of invalidArguments) {
  test(`rejects ${what} in one line, and creates no database`, async (t) => {
    const folder = join(makeFolder(t), 'data');
    const { status, out, notes } = await run(['seller', 'create', ...args, '--data', folder]);
    assert.match(notes, says);
    assert.match(notes, /^[^\n]+\n$/);
    assert.deepEqual([status, out], [2, '']);
    assert.equal(existsSync(folder), false);
  });
}
