/** Profiles: addresses and keys in a file that only its owner can read. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { run, runProcess } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { openShop } from '../shop.ts';

const URL = 'http://127.0.0.1:2';
const KEY = generateApiKey();

function openHome(t: TestContext) {
  const home = makeFolder(t);
  const file = join(home, 'seller-api', 'profiles.json');
  const environment = {
    XDG_CONFIG_HOME: home, SELLER_API_URL: '', SELLER_API_KEY: '', SELLER_API_PROFILE: '',
  };
  return {
    home, file, environment,
    run: (...args: string[]) => run(args, environment),
    add: (name: string, ...flags: string[]) =>
      run(['profile', 'add', name, ...flags], environment, `${KEY}\n`),
  };
}

test('saves a profile where only its owner can read it, and never prints the key', async (t) => {
  const { file, add, run: runAt } = openHome(t);
  const { status, out, notes } = await add('shop', '--url', `${URL}/`);
  assert.deepEqual([status, notes], [0, '']);
  assert.match(out, /^Saved profile "shop" for http:\/\/127\.0\.0\.1:2 in \S+profiles\.json\./);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(file, '..')).mode & 0o777, 0o700);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    profiles: { shop: { url: URL, key: KEY } },
  });
  const [list, json] = [await runAt('profile', 'list'), await runAt('profile', 'list', '--json')];
  assert.equal(list.out, `name  url\nshop  ${URL}\n`);
  assert.deepEqual(JSON.parse(json.out), { profiles: [{ name: 'shop', url: URL }] });
  assert.ok(![out, list.out, json.out].some((text) => text.includes(KEY)));
});

test('replaces a profile only with --force, and removes it', async (t) => {
  const { add, run: runAt, file } = openHome(t);
  assert.equal((await add('shop')).status, 0);
  const again = await add('shop', '--url', URL);
  assert.deepEqual([again.status, again.out], [2, '']);
  assert.match(again.notes, /^There is a profile "shop" already\. Replace it with --force\./);
  assert.equal((await add('shop', '--url', URL, '--force')).status, 0);
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).profiles.shop.url, URL);
  assert.equal((await runAt('profile', 'remove', 'shop')).out, 'Removed profile "shop".\n');
  const gone = await runAt('profile', 'remove', 'shop');
  assert.deepEqual([gone.status, gone.notes], [1, 'There is no profile "shop".\n']);
  const empty = await runAt('profile', 'list');
  assert.deepEqual([empty.status, empty.out], [0, '']);
  assert.match(empty.notes, /Create one: profile add NAME/);
});

test('loses no profile if several are added at once', async (t) => {
  const { environment, file } = openHome(t);
  const add = (name: string) =>
    runProcess(['profile', 'add', name], environment, `${KEY}\n`);
  const names = ['a', 'b', 'c', 'd'];
  const added = await Promise.all(names.map(async (name) => ({ name, ...await add(name) })));
  for (const { status, notes } of added) {
    assert.ok(status === 0 || /^Another command is changing the profiles\. Try/.test(notes), notes);
  }
  const saved = added.filter(({ status }) => status === 0).map(({ name }) => name);
  assert.ok(saved.length > 0);
  const { profiles } = JSON.parse(readFileSync(file, 'utf8'));
  assert.deepEqual(Object.keys(profiles).sort(), saved);
});

test('rejects invalid keys and names, without repeating them', async (t) => {
  const { environment, run: runAt } = openHome(t);
  const wrong = await run(['profile', 'add', 'shop'], environment, 'spk_not-a-key\n');
  assert.equal(wrong.status, 1);
  assert.match(wrong.notes, /^That is not an API key, which is spk_ and 36 characters\./);
  assert.ok(!wrong.notes.includes('not-a-key'));
  for (const name of ['', 'a b', '-', '../x', 'x'.repeat(65)]) {
    assert.equal((await runAt('profile', 'add', '--', name)).status, 2, name);
  }
  const argument = await runAt('profile', 'add', 'shop', KEY);
  assert.deepEqual([argument.status, argument.notes.includes(KEY)], [2, false]);
});

test('rejects a file that other users can read, or that is damaged', async (t) => {
  const { file, add, run: runAt } = openHome(t);
  assert.equal((await add('shop')).status, 0);
  for (const mode of [0o604, 0o640, 0o620]) {
    chmodSync(file, mode);
    const { status, notes } = await runAt('export', '--profile', 'shop');
    assert.equal(status, 1);
    assert.match(notes, /^Other users can access \S+, .* Run "chmod 600 \S+", and revoke /);
  }
  chmodSync(file, 0o600);
  const broken = ['', '{', 'null', '{}', '{"profiles":[1]}', '{"profiles":{"shop":null}}',
    `{"profiles":{"shop":{"url":"file:///x","key":"${KEY}"}}}`,
    `{"profiles":{"shop":{"url":"${URL}","key":"${KEY.slice(1)}"}}}`];
  for (const text of broken) {
    writeFileSync(file, text);
    const { status, notes } = await runAt('profile', 'list');
    assert.deepEqual([status, notes.includes(KEY.slice(1))], [1, false], text);
    assert.match(notes, /^\S+profiles\.json is damaged\. Correct it, or delete it/);
  }
});

test('follows a link to the file, and leaves the link', async (t) => {
  const { home, file, add } = openHome(t);
  const target = join(home, 'mine.json');
  writeFileSync(target, '{"profiles":{}}', { mode: 0o600 });
  mkdirSync(join(home, 'seller-api'));
  symlinkSync(target, file);
  assert.equal((await add('shop')).status, 0);
  assert.ok(JSON.parse(readFileSync(target, 'utf8')).profiles.shop);
});

test('selects a profile by flag, by variable, or the one named default', async (t) => {
  const shop = await openShop(t);
  const { environment, run: runAt } = openHome(t);
  for (const [name, url] of [['shop', shop.url], ['away', URL]] as const) {
    const args = ['profile', 'add', name, '--url', url];
    assert.equal((await run(args, environment, shop.key)).status, 0);
  }
  const chosen = [
    run(['export', '--profile', 'shop'], environment),
    run(['export'], { ...environment, SELLER_API_PROFILE: 'shop' }),
    // The profile replaces the variables.
    run(['export', '--profile', 'shop'], {
      ...environment, SELLER_API_URL: URL, SELLER_API_KEY: KEY,
    }),
  ];
  for (const { status, notes } of await Promise.all(chosen)) assert.equal(status, 0, notes);
  const away = await runAt('export', '--profile', 'away');
  assert.match(away.notes, /^No server at http:\/\/127\.0\.0\.1:2 /);

  assert.match((await runAt('export')).notes, /^Give your API key in the variable SELLER_API_KEY/);
  const first = ['profile', 'add', 'default', '--url', shop.url];
  assert.equal((await run(first, environment, shop.key)).status, 0);
  assert.equal((await runAt('export')).status, 0);
  const other = await run(['export'], { ...environment, SELLER_API_URL: URL });
  assert.equal(other.status, 2, 'the key of a profile is not sent to another address');
});

test('sends the key of a profile to no other address', async (t) => {
  const { add, run: runAt, environment } = openHome(t);
  assert.equal((await add('shop', '--url', URL)).status, 0);
  for (const flags of [['--url', 'http://127.0.0.1:10'], ['--key-file', 'x']]) {
    const { status, notes } = await runAt('export', '--profile', 'shop', ...flags);
    assert.equal(status, 2);
    assert.match(notes, /^A profile has an address and a key of its own\. Omit --url /);
  }
  const unknown = await run(['export'], { ...environment, SELLER_API_PROFILE: 'shp' });
  assert.equal(unknown.status, 2);
  assert.match(unknown.notes, /^There is no profile "shp"\. There are: shop\. Create it: profile/);
});

test('reads keys, their files and the file of profiles in UTF-16, as PowerShell writes them',
  async (t) => {
    const shop = await openShop(t);
    const { file, home, environment } = openHome(t);
    const encode = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');
    const keyFile = join(home, 'key.txt');
    writeFileSync(keyFile, encode(`${shop.key}\r\n`));
    const byFile = await run(['status', '--url', shop.url, '--key-file', keyFile], environment);
    assert.match(byFile.out, /^ok {2}key {5}valid/m);
    const add = ['profile', 'add', 'shop', '--url', shop.url];
    assert.equal((await run(add, environment, encode(`${shop.key}\r\n`))).status, 0);
    writeFileSync(file, encode(readFileSync(file, 'utf8')));
    const byProfile = await run(['status', '--profile', 'shop'], environment);
    assert.match(byProfile.out, /^ok {2}key {5}valid/m);
  });
