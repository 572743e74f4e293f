/** A running server with a seller, and client commands for it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Finished, run, type Serving, startServing } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { send } from '../support/http.ts';
import { startServer, type TestOptions, type TestServer } from '../support/server.ts';
import { createKey, createSeller } from './setup.ts';

export const SAMPLE = join(import.meta.dirname, '../../data/sample-catalogue.csv');

export interface Shop {
  readonly url: string;
  readonly port: number;
  /** A folder for the files of the test. */
  readonly folder: string;
  readonly key: string;
  /** The variables with the address and the key. */
  readonly environment: NodeJS.ProcessEnv;
  /** Runs a command to its end, and asserts that it does not print the key. */
  run(...args: string[]): Promise<Finished>;
  /** The position of the catalogue. */
  readPosition(): Promise<number>;
}

/**
 * A seller of a server in this process: without options, of the one that all tests share.
 */
export async function openShop(
  t: TestContext, options?: TestOptions,
): Promise<Shop & { readonly server: TestServer }> {
  const server = await startServer(t, options);
  const { key } = await server.makeSeller();
  return { ...describeShop(t, server.port, key), server };
}

export interface ServingShop extends Shop {
  readonly serving: Serving;
  /** The data folder of the server. */
  readonly data: string;
  /** Stops the server, and starts it again on the same port. */
  restart(t: TestContext): Promise<void>;
}

/** A server in a process of its own, for tests that stop it. */
export async function serveShop(t: TestContext): Promise<ServingShop> {
  const data = join(makeFolder(t), 'data');
  await createSeller(data);
  const { key } = await createKey(data);
  const serving = await startServing(t, ['--data', data, '--rate-limit', '0']);
  return {
    ...describeShop(t, serving.port, key), serving, data,
    async restart(after) {
      assert.equal(await serving.stop('SIGTERM'), 0);
      await startServing(after, ['--data', data, '--port', String(serving.port)]);
    },
  };
}

function describeShop(t: TestContext, port: number, key: string): Shop {
  const url = `http://127.0.0.1:${port}`;
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: key };
  return {
    url, port, folder: makeFolder(t), key, environment,
    async run(...args) {
      const finished = await run(args, environment);
      assert.ok(!(finished.out + finished.notes).includes(key), 'the key is printed');
      return finished;
    },
    async readPosition() {
      const path = '/api/v1/products?limit=1';
      const answer = await send(port, { path, headers: { 'x-api-key': key } });
      return Number(answer.headers.etag?.replaceAll('"', ''));
    },
  };
}
