/** Checks the table of limits, and the relations between limits. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LIMITS_FILE, loadLimits, renderLimits } from './limits.ts';

test('src/LIMITS.md is current: run `make limits`', async () => {
  assert.equal(readFileSync(LIMITS_FILE, 'utf8'), await renderLimits());
});

test('every limit has a description, a unique name and a value', async () => {
  const limits = [...(await loadLimits()).values()].flat();
  assert.ok(limits.length > 200, String(limits.length));
  for (const { name, value, comment } of limits) {
    assert.match(comment, /^[A-Z`].*\.$/, name);
    assert.notEqual(value, undefined, name);
  }
  assert.equal(new Set(limits.map(({ name }) => name)).size, limits.length);
});

/** Each limit is less than the next one. */
const ASCENDING: readonly (readonly string[])[] = [
  ['HEADERS_TIMEOUT_MS', 'REQUEST_TIMEOUT_MS', 'STALL_TIMEOUT_MS'],
  ['BODY_MIN_RATE_INTERVAL_MS', 'STALL_TIMEOUT_MS'],
  ['HEARTBEAT_INTERVAL_MS', 'STALL_TIMEOUT_MS'],
  ['UPLOAD_GRACE_MS', 'STALL_TIMEOUT_MS'],
  ['CONNECTIONS_PER_ADDRESS_LIMIT', 'IDLE_CONNECTIONS_LIMIT', 'CONNECTIONS_LIMIT'],
  ['IDLE_CLOSE_AFTER_MS', 'KEEP_ALIVE_TIMEOUT_MS', 'KEEP_ALIVE_TIMEOUT_LIMIT_MS'],
  ['STALL_TIMEOUT_MS', 'KEEP_ALIVE_TIMEOUT_MS'],
  ['SLOW_READER_CHECK_INTERVAL_MS', 'SLOW_READER_GRACE_MS'],
  ['LINGERING_IDLE_TIMEOUT_MS', 'LINGERING_TIMEOUT_MS'],
  ['BODY_LIMIT_BYTES', 'DISCARD_LIMIT_BYTES'],
  ['BODY_LIMIT_BYTES', 'STOCK_BODY_LIMIT_BYTES'],
  ['STREAMS_PER_KEY_LIMIT', 'STREAMS_PER_SELLER_LIMIT', 'STREAMS_TOTAL_LIMIT'],
  ['REAUTHORIZE_INTERVAL_MS', 'STREAM_DURATION_LIMIT_MS'],
  ['CONCURRENT_IMPORTS_PER_SELLER_LIMIT', 'CONCURRENT_IMPORTS_LIMIT'],
  ['RESEND_LIMIT_MS', 'IDEMPOTENCY_LIFE_MS'],
  ['PAGE_SIZE_DEFAULT', 'PAGE_SIZE_LIMIT'],
  ['CHANGES_PAGE_SIZE_DEFAULT', 'CHANGES_PAGE_SIZE_LIMIT'],
  ['SESSION_SEEN_INTERVAL_MS', 'SESSION_IDLE_MS', 'SESSION_LIFE_MS'],
  ['CONCURRENT_IMPORTS_PER_SELLER_LIMIT', 'IMPORTS_KEPT_PER_SELLER_LIMIT'],
  ['UPLOAD_LIMIT_BYTES', 'UPLOADS_KEPT_LIMIT_BYTES'],
  ['DRAFT_LIMIT_BYTES', 'FORM_LIMIT_BYTES'],
  ['WEBHOOK_DNS_TIMEOUT_MS', 'WEBHOOK_TIMEOUT_MS'],
  ['WEBHOOK_RETRY_LIMIT_MS', 'WEBHOOK_GIVE_UP_MS'],
  ['WEBHOOK_STOP_TIMEOUT_MS', 'STOP_TIMEOUT_MS', 'STOP_DEADLINE_MS'],
  ['BACKUP_STOP_TIMEOUT_MS', 'STOP_DEADLINE_MS'],
  ['NOTIFY_TIMEOUT_MS', 'STOP_DEADLINE_MS'],
  ['DEFAULT_HISTORY_DAYS', 'HISTORY_DAYS_LIMIT'],
  ['DEFAULT_BACKUPS_KEPT', 'BACKUPS_KEPT_LIMIT'],
  ['WRITE_BATCH_LIMIT', 'WRITE_QUEUE_LIMIT'],
  ['WAL_SIZE_LIMIT_BYTES', 'DOCTOR_WAL_LIMIT_BYTES'],
  ['DOCTOR_LEFTOVER_AGE_MS', 'UNLOCKED_TEMP_FILE_AGE_MS'],
  ['READER_BUSY_TIMEOUT_MS', 'WRITER_BUSY_TIMEOUT_MS'],
];

test('no limits contradict each other', async () => {
  const limits = new Map([...(await loadLimits()).values()].flat()
    .map(({ name, value }) => [name, Number(value)]));
  const read = (name: string): number => limits.get(name) ?? NaN;
  for (const names of ASCENDING) {
    for (const [index, name] of names.slice(1).entries()) {
      const lower = names[index] ?? '';
      assert.ok(read(lower) < read(name), `${lower} < ${name}`);
    }
  }
  assert.ok(read('CHANGES_WAIT_LIMIT_SECONDS') * 1000 < read('STALL_TIMEOUT_MS'));
  assert.ok(60_000 < read('KEEP_ALIVE_TIMEOUT_MS'), 'the default of nginx and of load balancers');
  assert.ok(read('CONCURRENT_IMPORTS_LIMIT') + read('CONCURRENT_UPLOADS_LIMIT')
    < read('IMPORTS_KEPT_LIMIT'));
  assert.ok(read('WAL_CHECKPOINT_PAGES') * 4096 < read('WAL_SIZE_LIMIT_BYTES'));
  assert.ok(6 * read('STOCK_CHANGES_LIMIT') + 7 <= read('JSON_VALUES_LIMIT'), '6 values a change');
});
