/** The metrics of a server that has not started yet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Settings } from '../../../src/feature.ts';
import { startTelemetry } from '../../../src/features/telemetry/operator.ts';
import type { Store } from '../../../src/store/store.ts';
import { startServer } from '../../support/server.ts';

test('says that metrics are unavailable until the server has started', async (t) => {
  const token = 'x'.repeat(64);
  const settings: Settings = {
    dataFolder: undefined, baseUrl: undefined, readText: () => undefined,
    readSwitch: () => false, readNumber: () => undefined, readFile: () => token,
  };
  const operator = { note() {}, warn() {}, report() {} };
  const handlers = t.mock.method(process, 'on', () => process); // not for SIGUSR2
  // The cast: telemetry does not use the store.
  const telemetry = startTelemetry(settings, operator).start?.({} as Store, operator);
  handlers.mock.restore();
  t.after(() => telemetry?.stop?.());
  const server = await startServer(t, { ...telemetry?.options });
  const headers = { authorization: `Bearer ${token}` };
  const answer = await server.send({ path: '/metrics', headers });
  assert.deepEqual([answer.status, answer.json().detail], [503, 'The server is starting.']);
});
