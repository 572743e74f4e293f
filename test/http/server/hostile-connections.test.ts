/** Two thousand concurrent hostile connections, and a well-behaved client beside them. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { isSystemError } from '../../../src/runtime/system-error.ts';
import { createKey, createSeller } from '../../cli/setup.ts';
import { startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import type { Attack, Held } from './hostile-clients.ts';

const CONNECTIONS = 2_000;
const REQUESTS = 100;
const CPU_LIMIT_MS = 250;
/** Of a clock tick in `/proc`: USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10;
const MEMORY_LIMIT_MIB = 200;
const PATH = '/api/v1/products';

/** A client that repeatedly reads the first products on one connection. */
class GoodClient {
  readonly #options: object;

  constructor(t: TestContext, port: number, key: string) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const headers = { 'x-api-key': key };
    this.#options = { host: '127.0.0.1', port, path: `${PATH}?limit=10`, headers, agent };
  }

  async ask(): Promise<void> {
    const outgoing = get(this.#options);
    try {
      // The cast: the arguments of this event.
      const [answer] = (await once(outgoing, 'response')) as [NodeJS.ReadableStream & {
        readonly statusCode: number;
      }];
      assert.equal(answer.statusCode, 200);
      await once(answer.resume(), 'end');
    } catch (error) {
      // A server may close an idle connection at any time (RFC 9112, section 9.5).
      if (!outgoing.reusedSocket || !isSystemError(error, 'ECONNRESET')) throw error;
      await this.ask();
    }
  }
}

/**
 * The CPU time that the event loop of a process has used; NaN if the system does not report it. It
 * does not depend on what else keeps the machine busy, as the time on the clock does.
 */
function readCpuMs({ pid }: ChildProcess): number {
  const path = `/proc/${pid}/task/${pid}/stat`; // the main thread, by proc(5)
  const fields = existsSync(path) ? readFileSync(path, 'utf8').split(') ')[1]?.split(' ') : [];
  return (Number(fields?.[11]) + Number(fields?.[12])) * TICK_MS;
}

/** Resident memory in MiB; NaN if the system does not report it. */
function readMemory({ pid }: ChildProcess): number {
  const path = `/proc/${pid}/status`;
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1] ?? NaN) / 1024;
}

function countOpenFiles({ pid }: ChildProcess): number {
  const path = `/proc/${pid}/fd`;
  return existsSync(path) ? readdirSync(path).length : 0;
}

async function ask(attackers: ChildProcess): Promise<Held> {
  attackers.send('how many?');
  // The cast: it sends nothing else.
  const [held] = (await once(attackers, 'message')) as [Held];
  return held;
}

async function startShop(t: TestContext) {
  const folder = join(makeFolder(t), 'data');
  await createSeller(folder);
  const { key } = await createKey(folder);
  const serving = await startServing(t, ['--data', folder, '--rate-limit', '0']);
  const rows = Array.from({ length: 1_000 }, (_, row) => `Mug ${row},Kitchen,M-${row},1,1\n`);
  const imported = await send(serving.port, {
    method: 'POST', path: `${PATH}/import`,
    headers: { 'x-api-key': key, 'content-type': 'text/csv' },
    body: `name,category,sku,price,stock\n${rows.join('')}`,
  });
  assert.match(imported.text, /"created":1000/);
  return { ...serving, key };
}

test('serves a good client within a memory limit during 2,000 hostile connections', async (t) => {
  const { port, key, child, stop } = await startShop(t);
  const client = new GoodClient(t, port, key);
  for (let count = 0; count < 50; count += 1) await client.ask();
  const before = { memory: readMemory(child), files: countOpenFiles(child) };

  const attack: Attack = { port, key, connections: CONNECTIONS };
  const attackers = fork(join(import.meta.dirname, 'hostile-clients.ts'), [JSON.stringify(attack)]);
  t.after(() => { attackers.kill('SIGKILL'); });
  // The attackers are replacing those that the server has just closed.
  while ((await ask(attackers)).open < CONNECTIONS * 0.95) await delay(50);

  // What the server does for others while a request of the client waits, and until the client has
  // noticed the response, which a busy machine delays now and then: hence not the maximum.
  const cpuMs: number[] = [];
  for (let count = 0; count < REQUESTS; count += 1) {
    const from = readCpuMs(child);
    await client.ask();
    cpuMs.push(readCpuMs(child) - from);
    await delay(5); // to spread the requests over time
  }
  const waitedMs = cpuMs.toSorted((one, other) => one - other)[Math.floor(REQUESTS * 0.9)] ?? NaN;
  let held = await ask(attackers);
  // They are still replacing those that the server has closed.
  for (; held.open <= CONNECTIONS * 0.8; held = await ask(attackers)) await delay(50);
  const grownMib = readMemory(child) - before.memory;
  t.diagnostic(`${waitedMs} ms, ${held.open} held, ${grownMib.toFixed(0)} MiB more`);
  t.diagnostic(`opened ${JSON.stringify(held.opened)}`);
  assert.ok(waitedMs < CPU_LIMIT_MS || process.platform !== 'linux',
    `a request waited for ${waitedMs} ms of CPU time`);
  assert.equal(Object.keys(held.opened).length, 8);
  assert.ok(!(grownMib > MEMORY_LIMIT_MIB), `grown by ${grownMib} MiB`);

  // No open file is left once they are gone.
  attackers.kill('SIGKILL');
  await once(attackers, 'close');
  while (countOpenFiles(child) > before.files + 5) await delay(50);
  await client.ask();
  assert.equal(await stop('SIGTERM'), 0);
});
