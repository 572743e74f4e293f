/** What the server logs at every level, and the metrics of one that has not started yet. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { AppError } from '../../../src/domain/error.ts';
import type { AccountId, SellerId } from '../../../src/domain/id.ts';
import type { Operator, Settings } from '../../../src/feature.ts';
import { LOGGED_SECURITY_EVENTS_PER_MINUTE } from '../../../src/features/telemetry/limits.ts';
import { startTelemetry } from '../../../src/features/telemetry/operator.ts';
import { startRequestRecord } from '../../../src/http/request-record.ts';
import type { Store } from '../../../src/store/store.ts';
import { startServer } from '../../support/server.ts';

const settings: Settings = {
  dataFolder: undefined, baseUrl: undefined, readText: () => undefined,
  readSwitch: () => false, readNumber: () => undefined, readFile: () => undefined,
};
const operator = { note() {}, warn() {}, report() {} };

/** The lines that `act` makes the server log, at the default level. */
async function readLog(
  t: TestContext, act: (logging: Partial<Operator>) => void,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const written: string[] = [];
  const write = t.mock.method(process.stderr, 'write', (text: string) => written.push(text) > 0);
  act(startTelemetry(settings, operator).operator ?? {});
  await new Promise(setImmediate);
  write.mock.restore();
  const lines = written.join('').split('\n').filter((line) => line.startsWith('{"time":'));
  return lines.map((line) => JSON.parse(line));
}

test('logs up to 60 failed sign-ins and denied roles a minute, at the default level', async (t) => {
  const record = startRequestRecord('192.0.2.7');
  const lines = await readLog(t, ({ onSecurityEvent }) => {
    for (let n = 0; n < LOGGED_SECURITY_EVENTS_PER_MINUTE + 5; n += 1) {
      // The casts: these ids need not exist.
      onSecurityEvent?.({
        ...record, securityEvent: 'role_denied', sellerId: 1 as SellerId, accountId: 2 as AccountId,
      });
    }
  });
  assert.equal(lines.length, LOGGED_SECURITY_EVENTS_PER_MINUTE);
  const { time, ...members } = lines[0] ?? {};
  assert.ok(time);
  assert.deepEqual(members, {
    level: 'warn', event: 'role_denied', seller: 'sel_00000000001', account: 2,
  });
});

test('logs the stack of a bug, and only the causes of what ends by itself', async (t) => {
  const cause = new Error('connect ECONNREFUSED');
  const [busy, bug] = await readLog(t, ({ report }) => {
    report?.({ id: '1', error: new AppError('unavailable', 'No database.', { cause }) });
    report?.({ id: '2', error: new TypeError('a bug') });
  });
  assert.equal(busy?.['error'], 'No database. Cause: connect ECONNREFUSED');
  assert.match(String(bug?.['error']), /^TypeError: a bug\n {4}at .*operator\.test\.ts/);
});

test('says that metrics are unavailable until the server has started', async (t) => {
  const token = 'x'.repeat(64);
  const handlers = t.mock.method(process, 'on', () => process); // not for SIGUSR2
  // The cast: telemetry does not use the store.
  const telemetry = startTelemetry({ ...settings, readFile: () => token }, operator)
    .start?.({} as Store, operator);
  handlers.mock.restore();
  t.after(() => telemetry?.stop?.());
  const server = await startServer(t, { ...telemetry?.options });
  const headers = { authorization: `Bearer ${token}` };
  const answer = await server.send({ path: '/metrics', headers });
  assert.deepEqual([answer.status, answer.json().detail], [503, 'The server is starting.']);
});
