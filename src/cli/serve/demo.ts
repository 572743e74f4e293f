/**
 * `demo`: `serve` on a folder that is gone afterwards, with a sample catalogue that came in through
 * its own import, and lines to try.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULT_PORT, INVITATION_CODE_LIFE_MS } from '../limits.ts';
import {
  type ApiKeySecret, generateApiKey, hashApiKey, parseNewApiKey,
} from '../../domain/access/api-key.ts';
import { parseNewSeller } from '../../domain/access/seller.ts';
import { type ApiServer, PRODUCTS_PATH } from '../transfer/api-client.ts';
import { type Command, CommandFailure, type Input } from '../command.ts';
import { sendImport } from '../transfer/import-run.ts';
import { openSource } from '../transfer/product-file.ts';
import { makeInvitation } from '../admin/invite.ts';
import { serve } from './serve.ts';
import { withNewStore } from '../with-store.ts';

const SAMPLE = fileURLToPath(new URL('../../../data/sample-catalogue.csv', import.meta.url));

export const demo: Command = {
  summary: 'Serves a sample catalogue from a temporary folder, and prints lines to try.',
  operands: [],
  flags: {
    port: { value: 'N', help: `0 finds a free one (default: ${DEFAULT_PORT})`, isSetting: true },
  },
  isRemote: true,
  async run(input) {
    const dataFolder = mkdtempSync(join(tmpdir(), 'seller-api-demo-'));
    // However this process ends, but for a signal that nobody can catch.
    process.once('exit', () => rmSync(dataFolder, { recursive: true, force: true }));
    const access = await createSeller(dataFolder);
    let presentation: Promise<void> | undefined;
    const out = (text: string): void => {
      // The one thing that `serve` says here: where it listens.
      const { url } = JSON.parse(text) as { readonly url: string };
      presentation = present(input, url, access);
      // Without its products the server need not go on; the error itself is awaited below.
      presentation.catch(() => process.emit('SIGTERM', 'SIGTERM'));
    };
    await serve.run({ ...input, dataFolder, isJson: true, out });
    await presentation;
  },
};

/** What a visitor of the demo comes in with. */
interface Access {
  readonly key: ApiKeySecret;
  /** For an account in the portal. */
  readonly code: string;
}

function createSeller(folder: string): Promise<Access> {
  const key = generateApiKey();
  return withNewStore(folder, async (store) => {
    const { id } = await store.createSeller(parseNewSeller('Demo shop', 'EUR'));
    const everything = { name: 'demo', scopes: [], addressRanges: [], expiresAt: undefined };
    await store.createKey(id, hashApiKey(key), parseNewApiKey(everything));
    const expiresAt = Date.now() + INVITATION_CODE_LIFE_MS;
    return { key, code: await makeInvitation(store, { sellerId: id, isFirst: false, expiresAt }) };
  });
}

/** Brings the sample in, and prints what there is to try. */
async function present(
  { isJson, out }: Input, url: string, { key, code }: Access,
): Promise<void> {
  const server = { url, key };
  const { created: products } = await sendImport({
    server,
    source: openSource(SAMPLE, undefined),
    query: new URLSearchParams(),
    idempotencyKey: randomUUID(),
    onSent() {},
    async onRejected({ line, reason }) {
      throw new CommandFailure(`Line ${line} of ${SAMPLE} was rejected: ${reason}`);
    },
  });
  const commands = listCommands(server);
  const portal = { url: `${url}/portal/join?shop=existing`, code };
  if (isJson) {
    out(JSON.stringify({ url, key, portal, products, commands }));
    return;
  }
  out(`Listening on ${url} with ${products} products, until Ctrl-C; then all of it is gone.`);
  out(`The portal: ${portal.url}, with the code ${code}`);
  out(`The API key of this demo: ${key}\n\nFind products, change a stock, export everything:\n`);
  for (const command of commands) out(`  ${command}`);
}

function listCommands({ url, key }: ApiServer): string[] {
  const address = `${url}${PRODUCTS_PATH}`;
  const curl = `curl -H 'x-api-key: ${key}'`;
  const patch = `${curl} -X PATCH -H 'content-type: application/json' -d '{"stock":41}'`;
  return [
    `${curl} '${address}?q=mug&limit=5'`,
    `${patch} '${address}/sku/KIT-MUG-BLUE'`,
    `${curl} '${address}?format=csv'`,
  ];
}
