/** Large JSON bodies: their limit, and that reading them yields to other requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/domain/error.ts';
import { parseJson, parseLargeJson } from '../../../src/http/request/json.ts';
import { catchAppError } from '../../domain/validation-errors.ts';
import { countTurns } from '../../support/turns.ts';

const LIMIT = 64_000;

/** An object of `count` members; all after the first `names` repeat the last name. */
function makeMembers(count: number, names = count): string {
  const members = Array.from({ length: count }, (_, n) =>
    `"\\u006d${Math.min(n, names - 1)}":${n}`);
  return `{${members.join(',')}}`;
}

for (const [what, text, values] of [
  ['members', makeMembers(LIMIT), LIMIT],
  ['numbers', `[${'0,'.repeat(LIMIT - 1)}0]`, LIMIT],
  ['empty objects', `[${'{},'.repeat(LIMIT / 2 - 1)}{}]`, LIMIT / 2],
] as const) {
  test(`accepts 64,000 values, and rejects one more: ${what}`, async () => {
    const bytes = Buffer.from(text);
    const value = await parseLargeJson(bytes);
    assert.deepEqual(value, JSON.parse(text));
    assert.equal(Object.keys(value as object).length, values);
    const end = text.endsWith('}') ? ',"more":0}' : ',0]';
    const more = Buffer.from(text.slice(0, -1) + end);
    const refusal = catchAppError(() => parseJson(more));
    assert.equal(refusal.code, 'invalid_json');
    assert.match(refusal.publicDetail, /more than 64,000 members and items/);
    await assert.rejects(parseLargeJson(more), AppError);
  });
}

test('reads a large body in slices, between which other requests run', async () => {
  const bytes = Buffer.from(makeMembers(60_000));
  assert.ok(await countTurns(() => parseLargeJson(bytes)) >= 9);
});

test('names a duplicate member in a large body, in time slices', async () => {
  const bytes = Buffer.from(makeMembers(60_000, 59_999));
  const turns = await countTurns(() => assert.rejects(parseLargeJson(bytes), (error) =>
    error instanceof AppError && error.issues[0]?.pointer === '/m59998'));
  assert.ok(turns >= 17);
});

test('points to an inexact number in a large body, in time slices', async () => {
  const numbers = `${'12.345678901234567,'.repeat(60_000)}1e-400`;
  const turns = await countTurns(() =>
    assert.rejects(parseLargeJson(Buffer.from(`[${numbers}]`)), (error) =>
      error instanceof AppError && error.issues[0]?.pointer === '/60000'));
  assert.ok(turns >= 17);
});
