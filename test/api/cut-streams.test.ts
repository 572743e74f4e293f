/**
 * No stream that is cut seems complete to its client, whichever version of HTTP it speaks and
 * whatever cuts it. Each stream of the table of routes is open in a process of its own when its key
 * is revoked, when the process gets SIGTERM and its clients do not read, and when it is killed.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { REPORT_BUFFER_TIME_MS } from '../../src/http/limits.ts';
import { openStream, type Received, seemsComplete, STREAMS } from './long-streams.ts';

const SERVER = new URL('./long-streams-server.ts', import.meta.url);
const CLIENTS = [{ version: '1.0', fields: [] }, { version: '1.1', fields: [] }] as const;
/** Of exports of products. */
const OTHER_CLIENTS = [
  { version: '1.1', fields: ['connection: close'] },
  { version: '1.1', fields: ['accept-encoding: gzip'] },
] as const;

interface Cut extends Received {
  readonly name: string;
  readonly version: string;
  readonly title: string;
  /** From before it was opened until it was received. */
  readonly tookMs: number;
}

/** Opens all streams, cuts them, and returns what their clients then have. */
async function cutAll(t: TestContext, cut: (server: ChildProcess) => void): Promise<Cut[]> {
  const server = fork(SERVER, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  t.after(() => server.kill('SIGKILL'));
  const [{ port, key }] = await once(server, 'message') as [{ port: number; key: string }];
  const cases = STREAMS.flatMap((name) => {
    const clients = name.includes('/products ') ? [...CLIENTS, ...OTHER_CLIENTS] : CLIENTS;
    return clients.map((client) => ({ name, client }));
  });
  const openedAt = performance.now();
  const open = await Promise.all(cases.map(async ({ name, client }) => {
    const title = `${name}, HTTP/${client.version} ${client.fields.join()}`;
    const read = await openStream(t, port, key, name, client);
    return { name, title, version: client.version, read };
  }));
  cut(server);
  return Promise.all(open.map(async ({ read, ...stream }) => {
    const received = await read();
    return { ...stream, ...received, tookMs: performance.now() - openedAt };
  }));
}

const isLive = ({ name }: Cut): boolean => name.endsWith('text/event-stream');
const isReport = ({ name }: Cut): boolean => name.startsWith('POST');

for (const [cause, cut] of [
  ['SIGTERM', (server: ChildProcess) => server.kill('SIGTERM')],
  ['a kill', (server: ChildProcess) => server.kill('SIGKILL')],
  ['the loss of its key', (server: ChildProcess) => server.send('revoke')],
] as const) {
  test(`seems incomplete when it is cut by ${cause}: every stream`, async (t) => {
    const streams = await cutAll(t, cut);
    for (const stream of streams) {
      const { title, version, body, isReset } = stream;
      if (isLive(stream)) continue; // has no end: its client reads on after the last whole event
      if (isReport(stream) && cause === 'the loss of its key') {
        assert.match(body.toString(), /"problem":\{.*"status":401,.*"summary":\{/, title);
        // On a busy machine, a report may take longer than it is buffered.
        if (version !== '1.0' || stream.tookMs > REPORT_BUFFER_TIME_MS) continue;
        assert.match(stream.head, /^content-length: \d+$/m, title);
        continue;
      }
      assert.equal(seemsComplete(stream), false, `seems complete: ${title}\n${stream.head}`);
      assert.doesNotMatch(body.toString(), /"summary"/, title);
      if (cause !== 'a kill') assert.equal(isReset, true, `was not reset: ${title}`);
    }
  });
}
