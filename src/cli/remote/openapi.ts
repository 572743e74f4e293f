/**
 * `openapi`: prints the OpenAPI document, which a server serves at `/api/v1/openapi.json`. Without
 * an address it describes the API of this program, and needs no server.
 */
import { sendForJson } from '../../client/sender.ts';
import { Transport } from '../../client/transport.ts';
import { createShop } from '../../embed/shop.ts';
import type { Command } from '../command.ts';
import { findServer, SERVER_FLAGS } from './client.ts';

const { url, profile } = SERVER_FLAGS;

export const printOpenApi: Command = {
  summary: 'Prints the OpenAPI document of this version, or with --url that of a server.',
  flags: { url: { ...url, help: 'address of a server (default: none)' }, profile },
  isRemote: true,
  async run(input) {
    const { flags } = input;
    const isRemote = flags['url'] !== undefined || flags['profile'] !== undefined;
    const document = isRemote ? await read(new Transport({ baseUrl: findServer(input).url }))
      : await describeOwn();
    return { document, text: JSON.stringify(document, null, 2) };
  },
};

function read(server: Transport): Promise<object> {
  return sendForJson(server, { method: 'GET', path: '/api/v1/openapi.json' });
}

/** Asks an empty shop of this process, without a socket. */
async function describeOwn(): Promise<object> {
  await using opened = new AsyncDisposableStack();
  const shop = opened.adopt(await createShop({ temporary: true }), ({ close }) => close());
  const baseUrl = 'http://localhost';
  return await read(new Transport({
    baseUrl, fetch: (address, init) => shop.fetch(new Request(address, init)),
  }));
}
