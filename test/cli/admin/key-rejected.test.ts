/** What the key commands reject, with which exit status, and without changing anything. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { createKey, createSeller } from '../setup.ts';

/** Well-formed ids that do not exist. */
const NO_SELLER = 'sel_00000000005';
const NO_KEY = 'key_0000000000500000000005';

const invalidArguments: readonly [what: string, args: readonly string[], says: RegExp][] = [
  ['a key without a name', ['create'], /--name NAME/],
  ['a blank name', ['create', '--name', ' '], /name.*blank/],
  ['a name that is too long', ['create', '--name', 'x'.repeat(101)], /name.*100/],
  ['an unknown scope', ['create', '--name', 'x', '--scopes', 'stock:write,all'],
    /--scopes takes .*not "all"/],
  ['an empty list of scopes', ['create', '--name', 'x', '--scopes', ''], /scope/],
  ['a list of scopes without one', ['create', '--name', 'x', '--scopes', ' , '], /scope/],
  ['a lifetime without a unit', ['create', '--name', 'x', '--expires', '90'], /"90".*90d/],
  ['an unknown unit of lifetime', ['create', '--name', 'x', '--expires', '3y'], /"3y".*duration/],
  ['a lifetime over ten years', ['create', '--name', 'x', '--expires', '3654d'], /3653d/],
  ['an invalid range', ['create', '--name', 'x', '--allow', '10.0.0.0/33'], /"10.0.0.0\/33"/],
  ['a host name as a range', ['create', '--name', 'x', '--allow', 'shop.example'], /address range/],
  ['an empty list of ranges', ['create', '--name', 'x', '--allow', ''], /--allow needs a value/],
  ['no requests per minute', ['create', '--name', 'x', '--rate-limit', '0'],
    /--rate-limit takes a whole number from 1/],
  ['too many requests per minute', ['create', '--name', 'x', '--rate-limit', '10000001'],
    /--rate-limit takes a whole number/],
  ['a rate that is no number', ['create', '--name', 'x', '--rate-limit', '1e3'],
    /--rate-limit takes a whole number/],
  ['an extra operand', ['create', 'x', '--name', 'x'], /only flags, not "x"/],
  ['an operand of list', ['list', 'all'], /only flags, not "all"/],
  ['an unknown flag', ['create', '--name', 'x', '--scope', 'all'], /--scope/],
  ['a flag of another command', ['list', '--overlap', '1h'], /--overlap/],
  ['a rotation without an id', ['rotate'], /KEY_ID/],
  ['a rotation of two keys', ['rotate', NO_KEY, NO_KEY], /KEY_ID/],
  ['a rotation of a malformed id', ['rotate', 'mine'], /"mine" is not a key id/],
  ['a malformed overlap', ['rotate', NO_KEY, '--overlap', 'soon'], /"soon".*duration/],
  ['a revocation without an id', ['revoke'], /KEY_ID/],
  ['a revocation of a malformed id', ['revoke', 'mine'], /"mine" is not a key id/],
];

const failing: readonly [what: string, args: readonly string[], says: RegExp][] = [
  ['to create a key of an unknown seller', ['create', '--name', 'x', '--seller', NO_SELLER],
    /^No seller has/],
  ['to list the keys of an unknown seller', ['list', '--seller', NO_SELLER], /^No seller has/],
  ['to rotate an unknown key', ['rotate', NO_KEY], /no such key/],
  ['to revoke an unknown key', ['revoke', NO_KEY], /no such key/],
];

describe('with one seller and one key', () => {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-test-'));
  let keyId = '';

  before(async () => {
    await createSeller(folder);
    keyId = (await createKey(folder)).id;
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  describe('the command line', () => {
    for (const [what, args, says] of invalidArguments) {
      test(`rejects ${what} with exit status 2`, () => assertEnds(args, 2, says));
    }
    for (const [what, args, says] of failing) {
      test(`fails ${what} with exit status 1`, () => assertEnds(args, 1, says));
    }
  });

  test('no rejected command creates or changes a key', async () => {
    const { out } = await run(['key', 'list', '--data', folder, '--json']);
    const { keys } = JSON.parse(out);
    assert.equal(keys.length, 1);
    assert.deepEqual([keys[0].id, keys[0].expires_at, keys[0].revoked_at], [keyId, null, null]);
  });

  /** Asserts one line on stderr that says why, and nothing on standard output. */
  async function assertEnds(args: readonly string[], status: number, says: RegExp): Promise<void> {
    const ended = await run(['key', ...args, '--data', folder]);
    assert.match(ended.notes, says);
    assert.match(ended.notes, /^[^\n]+\n$/);
    assert.deepEqual([ended.status, ended.out], [status, '']);
  }
});

test('does not rotate a key that was revoked', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const { id } = await createKey(folder);
  await run(['key', 'revoke', id, '--data', folder]);
  const { status, out, notes } = await run(['key', 'rotate', id, '--data', folder]);
  assert.deepEqual([status, out], [1, '']);
  assert.match(notes, /can still be used/);
});

test('says to create a seller first', async (t) => {
  const folder = makeFolder(t);
  const { status, out, notes } = await run(['key', 'create', '--name', 'x', '--data', folder]);
  assert.deepEqual([status, out], [1, '']);
  assert.match(notes, /seller create NAME/);
});
