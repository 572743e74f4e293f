/** A running server with a seller, and client commands in separate processes. */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { type Finished, program, run, type Serving, startServing } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { send } from '../support/http.ts';
import { createKey, createSeller } from './setup.ts';

export const SAMPLE = join(import.meta.dirname, '../../data/sample-catalogue.csv');

export interface Shop {
  readonly serving: Serving;
  /** The data folder of the server. */
  readonly data: string;
  /** A folder for the files of the test. */
  readonly folder: string;
  readonly key: string;
  /** The variables with the address and the key. */
  readonly environment: NodeJS.ProcessEnv;
  /** Runs a command to its end, and asserts that it does not print the key. */
  run(...args: string[]): Promise<Finished>;
  /** Stops the server, and starts it again on the same port. */
  restart(t: TestContext): Promise<void>;
  /** The position of the catalogue. */
  readPosition(): Promise<number>;
}

/** @param flags Flags of `serve`. */
export async function openShop(
  t: TestContext, flags: readonly string[] = [],
): Promise<Shop> {
  const folder = makeFolder(t);
  const data = join(folder, 'data');
  await createSeller(data);
  const { key } = await createKey(data);
  const serving = await startServing(t, ['--data', data, '--rate-limit', '0', ...flags]);
  const environment = { SELLER_API_URL: serving.url, SELLER_API_KEY: key };
  return {
    serving, data, folder, key, environment,
    async run(...args) {
      const finished = await run(args, environment);
      assert.ok(!(finished.out + finished.notes).includes(key), 'the key is printed');
      return finished;
    },
    async restart(after) {
      assert.equal(await serving.stop('SIGTERM'), 0);
      await startServing(after, ['--data', data, '--port', String(serving.port)]);
    },
    async readPosition() {
      const path = '/api/v1/products?limit=1';
      const answer = await send(serving.port, { path, headers: { 'x-api-key': key } });
      return Number(answer.headers.etag?.replaceAll('"', ''));
    },
  };
}

/** Starts a command with pipes for its input and output. */
export function spawnCommand(
  args: readonly string[], environment: NodeJS.ProcessEnv,
): ChildProcessWithoutNullStreams {
  return spawn(...program(...args), { env: { ...process.env, ...environment } });
}

/** Runs a command with this input from a pipe. */
export async function runWithInput(
  args: readonly string[], environment: NodeJS.ProcessEnv, input: string | Uint8Array,
): Promise<Finished> {
  const child = spawnCommand(args, environment);
  child.stdin.on('error', () => {}); // it may end before it has read everything
  child.stdin.end(input);
  const closed = once(child, 'close');
  const [out, notes] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = (await closed) as [number | null];
  return { status, out, notes };
}
