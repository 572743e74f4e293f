/**
 * `demo`: runs `serve` on a temporary folder with a sample catalogue, imported through the API, and
 * prints commands to try. The folder is deleted when the process ends.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateApiKey, parseNewApiKey, toStoredSecret } from '../../domain/access/api-key.ts';
import { DEFAULT_CURRENCY, parseNewSeller } from '../../domain/access/seller.ts';
import { PRODUCTS } from '../../api/route.ts';
import { SellerClient } from '../../client/index.ts';
import { type Command, CommandFailure, type Input } from '../command.ts';
import { SIGNALS, withInterrupt } from '../progress.ts';
import { listeningFlags } from './listening.ts';
import { serve } from './serve.ts';
import { formatJoinUrl, invite } from '../../store/invitation.ts';
import { withNewStore } from '../with-store.ts';

const SAMPLE = fileURLToPath(new URL('../../../data/sample-catalogue.csv', import.meta.url));

export const demo: Command = {
  summary: 'Serves a sample catalogue from a temporary folder, and prints commands to try.',
  flags: { port: listeningFlags.port },
  isRemote: true,
  async run(input) {
    const { io } = input;
    // From here on no signal ends the process without its `exit` event.
    for (const signal of SIGNALS) io.on(signal, () => {});
    const dataFolder = mkdtempSync(join(tmpdir(), 'seller-api-demo-'));
    // `exit` also fires on errors and handled signals.
    process.once('exit', () => rmSync(dataFolder, { recursive: true, force: true }));
    const access = await withInterrupt(io, () => createSeller(dataFolder), () => 'Interrupted.');
    io.on('SIGHUP', () => io.emit('SIGTERM', 'SIGTERM')); // there is nothing to reload
    let presentation: Promise<void> | undefined;
    const out = (text: string): void => {
      // The only line that `serve` prints with --json.
      const { url } = JSON.parse(text) as { readonly url: string };
      presentation = present(input, url, access);
      // If the import fails, stop the server; the error itself is thrown below.
      presentation.catch(() => io.emit('SIGTERM', 'SIGTERM'));
    };
    await serve.run({ ...input, location: { folder: dataFolder }, isJson: true, out });
    await presentation;
  },
};

/** Creates the seller, an API key and an invitation code for a portal account. */
async function createSeller(folder: string) {
  const key = generateApiKey();
  return withNewStore({ folder }, async (store) => {
    const { id } = await store.createSeller(parseNewSeller('Demo shop', DEFAULT_CURRENCY));
    const everything = { name: 'demo', scopes: [], addressRanges: [], expiresAt: undefined };
    await store.createKey(id, toStoredSecret(key), parseNewApiKey(everything));
    const { code } = await invite(store, { sellerId: id });
    return { key, code, sellerId: id };
  });
}

/** Imports the sample catalogue and prints commands to try. */
async function present(
  { isJson, out }: Input, url: string,
  { key, code, sellerId }: Awaited<ReturnType<typeof createSeller>>,
): Promise<void> {
  const catalogue = await new SellerClient({ baseUrl: url, key }).products
    .import(readFileSync(SAMPLE));
  for await (const { line } of catalogue) {
    throw new CommandFailure(`Line ${line} of ${SAMPLE} was rejected.`);
  }
  const { created: products } = await catalogue.summary();
  const portal = { url: formatJoinUrl(url, sellerId), code };
  const address = `${url}${PRODUCTS}`;
  const curl = `curl -H 'x-api-key: ${key}'`;
  const patch = `${curl} -X PATCH -H 'content-type: application/json' -d '{"stock":41}'`;
  const commands = [
    `${curl} '${address}?q=mug&limit=5'`,
    `${patch} '${address}/sku/KIT-MUG-BLUE'`,
    `${curl} '${address}?format=csv'`,
  ];
  out(isJson ? JSON.stringify({ url, key, portal, products, commands })
    : `Listening on ${url} with ${products} products. Ctrl-C stops it and deletes everything.
Portal: ${portal.url}, with the invitation code ${code}
API key: ${key}

Search for products, change a stock level, export everything:

${commands.map((command) => `  ${command}`).join('\n')}`);
}
