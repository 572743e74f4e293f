/** What commands print if a hostile server sends control characters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { run } from '../../support/command.ts';
import { startFakeServer } from '../transfer/fake-server.ts';

/** Sets the title of a terminal, its color in two ways, and the writing direction. */
const HOSTILE = '\x1b]0;title\x07\x1b[31m\x9b31m\u202e';
const CONTROL = /[^\n\P{Cc}]|\p{Cf}/u;

const results = (status: string) => ({
  results: [{ status, stock: HOSTILE, previous: HOSTILE, errors: [{ detail: HOSTILE }] }],
});
const change = {
  position: HOSTILE, at: HOSTILE, type: HOSTILE, sku: HOSTILE, data: { name: HOSTILE },
};

const CASES: readonly (readonly [command: string, status: number, body: object])[] = [
  ['products get MUG-1', 200, { name: HOSTILE, [HOSTILE]: 1 }],
  ['products list', 200, { products: [{ name: HOSTILE, [HOSTILE]: 1 }], next_cursor: null }],
  ['stock set MUG-1 1', 200, results('updated')],
  ['stock set MUG-1 1', 200, results('conflict')],
  ['stock set MUG-1 1', 200, results('invalid')],
  ['changes tail --after 0', 200, { changes: [change], next: 0 }],
  ['imports list', 200, { imports: [{ id: HOSTILE, file_name: HOSTILE, counts: {} }] }],
  ['imports show imp_1', 200, { file_name: HOSTILE, counts: { [HOSTILE]: HOSTILE } }],
  ['webhook list', 200, { webhooks: [{ id: HOSTILE, url: HOSTILE }], next_cursor: null }],
  ['webhook test whk_1', 200, { outcome: 'delivered', status: HOSTILE, duration_ms: HOSTILE }],
  ['webhook test whk_1', 200, { outcome: HOSTILE, status: HOSTILE, duration_ms: HOSTILE }],
  ['webhook listen', 400, { detail: HOSTILE, errors: [{ pointer: '/url', detail: HOSTILE }] }],
];

for (const [index, [command, status, body]] of CASES.entries()) {
  test(`${command} prints no control character of hostile response ${index}`, async (t) => {
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    const url = await startFakeServer(
      t,
      (_, response) => void response.writeHead(status, { 'content-type': type })
        .end(JSON.stringify(body)),
      (_, response) => void response.writeHead(404).end(), // ends `changes tail`
    );
    const environment = { SELLER_API_URL: url, SELLER_API_KEY: generateApiKey() };
    const { out, notes } = await run(command.split(' '), environment);
    assert.match(out + notes, /\ufffd/);
    assert.doesNotMatch(out + notes, CONTROL);
  });
}
