/** `seller create` and `seller list`, as a user types them. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';

const ID = /^sel_[0-9a-v]{11}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('creates a seller and prints its id alone on standard output', async (t) => {
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
  assert.deepEqual(rest, { name: 'My shop', currency: 'KWD', position: 0 });
});

test('lists the sellers in the order of their creation', async (t) => {
  const folder = makeFolder(t);
  const ids: string[] = [];
  for (const name of ['First', 'Second shop', 'Third']) {
    ids.push((await run(['seller', 'create', name, '--data', folder])).out.trimEnd());
  }
  const [json, table] = await Promise.all([
    run(['seller', 'list', '--data', folder, '--json']), run(['seller', 'list', '--data', folder]),
  ]);
  assert.deepEqual([json.status, table.status], [0, 0]);
  const { sellers, ...others } = JSON.parse(json.out);
  assert.deepEqual(others, {});
  assert.deepEqual(sellers.map((seller: { id: string }) => seller.id), ids);
  assert.deepEqual(Object.keys(sellers[0]), ['id', 'name', 'currency', 'position', 'created_at']);

  const [header, ...lines] = table.out.trimEnd().split('\n');
  assert.match(header ?? '', /^id +name +currency +position +created_at$/);
  assert.deepEqual(lines.map((line) => line.split(' ')[0]), ids);
  const column = header?.indexOf('name') ?? NaN;
  assert.deepEqual(lines.map((line) => line.slice(column).split(/ {2,}/)[0]), [
    'First', 'Second shop', 'Third',
  ]);
});

test('says what to do where there is no seller yet', async (t) => {
  const folder = makeFolder(t);
  const [plain, json] = await Promise.all([
    run(['seller', 'list', '--data', folder]), run(['seller', 'list', '--data', folder, '--json']),
  ]);
  assert.deepEqual([plain.status, plain.out], [0, '']);
  assert.match(plain.notes, /seller create NAME/);
  assert.deepEqual([json.status, JSON.parse(json.out), json.notes], [0, { sellers: [] }, '']);
});

const faulty: readonly [what: string, args: readonly string[], says: RegExp][] = [
  ['no name', [], /Give NAME/],
  ['a name in two words without quotes', ['My', 'shop'], /quotes/],
  ['a blank name', ['  '], /name.*blank/],
  ['a name of two lines', ['My\nshop'], /name.*control characters/],
  ['a name that is too long', ['x'.repeat(201)], /name.*200/],
  ['an unknown currency', ['My shop', '--currency', 'XYZ'], /"XYZ" is not a currency.*EUR/],
  ['a currency in small letters', ['My shop', '--currency', 'eur'], /capitals/],
  ['a currency without a value', ['My shop', '--currency'], /--currency/],
];

for (const [what, args, says] of faulty) {
  test(`refuses ${what} in one line, and makes no database`, async (t) => {
    const folder = join(makeFolder(t), 'data');
    const { status, out, notes } = await run(['seller', 'create', ...args, '--data', folder]);
    assert.match(notes, says);
    assert.match(notes, /^[^\n]+\n$/);
    assert.deepEqual([status, out], [2, '']);
    assert.equal(existsSync(folder), false);
  });
}
