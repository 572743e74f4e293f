/** The filter for a range of days. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTimeRange } from '../../../../src/features/portal/forms/date-range.ts';
import { Form } from '../../../../src/features/portal/forms/form.ts';
import { openCatalogue } from '../products/catalogue.ts';
import { readText } from '../page-client.ts';
import { assertPage } from '../page-rules.ts';

function read(from: string, to: string, timeZone: string) {
  const errors = new Map<string, string>();
  const { since, until } = readTimeRange(new Form([['from', from], ['to', to]]), timeZone, errors);
  const format = (at: number | undefined) => at === undefined ? '' : new Date(at).toISOString();
  return [format(since), format(until), ...errors.keys()];
}

test('reads whole days in the time zone, even when clocks change', () => {
  assert.deepEqual(read('2026-01-31', '2026-01-31', 'UTC'),
    ['2026-01-31T00:00:00.000Z', '2026-01-31T23:59:59.999Z']);
  // Clocks go forward on the first day, which has 23 hours, and back on the other one.
  assert.deepEqual(read('2026-03-29', '2026-03-29', 'Europe/Zurich'),
    ['2026-03-28T23:00:00.000Z', '2026-03-29T21:59:59.999Z']);
  assert.deepEqual(read('2026-10-25', '2026-10-26', 'Europe/Zurich'),
    ['2026-10-24T22:00:00.000Z', '2026-10-26T22:59:59.999Z']);
  assert.deepEqual(read('2026-05-01', '', 'Asia/Kolkata'), ['2026-04-30T18:30:00.000Z', '']);
  assert.deepEqual(read('', '2026-05-01', 'America/Los_Angeles'), ['', '2026-05-02T06:59:59.999Z']);
});

test('rejects days that do not exist, and a range that ends before it begins', () => {
  for (const day of ['2026-02-30', '31.1.2026', 'today', '2026-1-1', '1969-12-31']) {
    assert.deepEqual(read(day, '', 'UTC'), ['', '', 'from'], day);
    assert.deepEqual(read('', day, 'UTC'), ['', '', 'to'], day);
  }
  assert.deepEqual(read('2026-02-02', '2026-02-01', 'UTC'), ['', '', 'to']);
});

test('the changes page shows the changes of these days, with other filters', async (t) => {
  const { user, create, sync, clock, email, password } = await openCatalogue(t);
  const list = async (query: string): Promise<number[]> => {
    const page = await user.get(`/portal/changes?${query}`);
    assertPage(page);
    return [...page.text.matchAll(/<\/summary>Position ([\d,]+)<\/details>/g)]
      .map(([, text]) => Number(text));
  };
  // Five minutes before midnight in Zurich, and five minutes after it.
  clock.now = Date.parse('2026-03-01T22:55:00Z');
  await create({ sku: 'A', stock: 9 });
  clock.now = Date.parse('2026-03-01T23:05:00Z');
  await sync([{ sku: 'A', adjust: -1 }]);
  clock.now = Date.parse('2026-03-05T12:00:00Z');
  await create({ sku: 'B', stock: 9 });
  await user.get('/portal/sign-in'); // the first session has expired
  await user.submit({ email, password });
  assert.deepEqual(await list('from=2026-03-01&to=2026-03-01'), [1]);
  assert.deepEqual(await list('from=2026-03-02&to=2026-03-05'), [3, 2]);
  assert.deepEqual(await list('to=2026-03-02'), [2, 1]);
  assert.deepEqual(await list('from=2026-03-06'), []);
  assert.deepEqual(await list('from=2026-03-02&type=created'), [3]);
  assert.deepEqual(await list('to=2026-03-04&product=A'), [2, 1]);
  assert.deepEqual(await list('from=2026-03-02&product=A'), [2]);
  const page = await user.get('/portal/changes?product=A');
  for (const days of ['from=2026-03-05', 'from=2026-02-27', 'from=2026-02-04']) {
    assert.ok(page.text.includes(`?product=A&amp;${days}&amp;to=2026-03-05"`), days);
  }
  const wrong = await user.get('/portal/changes?from=2026-02-30&to=x');
  assertPage(wrong, 400);
  assert.match(wrong.text, /id="field-from-fault">Must be a date such as 2026-01-31\./);
  assert.match(readText(wrong.text), /These filters are invalid and were ignored: From: /);
  const backwards = await user.get('/portal/changes?from=2026-03-05&to=2026-03-01');
  assert.match(backwards.text, /id="field-to-fault">Must not be before the first day\./);
});
