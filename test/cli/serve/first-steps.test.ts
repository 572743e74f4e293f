/** The first steps that `serve` prints for an empty database work exactly as printed. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Serving, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;
const execute = promisify(execFile);

test('prints first steps that create and list a product, in any currency', {
  skip: hasCurl ? false : 'curl is not installed',
}, async (t) => {
  // A folder name that needs quoting in a shell.
  const folder = join(makeFolder(t), "it's $HOME data");
  const serving = await startServing(t, ['--data', folder]);
  const script = await readFirstSteps(serving);
  assert.match(script, /seller create[^]*key create[^]*curl[^]*curl/);
  const inYen = script.replace('seller create', '$& --currency JPY'); // it has no decimals
  const { stdout } = await execute('sh', ['-e', '-c', inYen], { cwd: process.cwd() });
  const lines = stdout.split('\n').join('');
  // The id of the seller, the created product, and the list that contains it.
  const [, created, listed] = /^sel_\w+(\{"id".*?\})(\{"products".*\})$/.exec(lines) ?? [];
  const product = JSON.parse(created ?? '');
  assert.deepEqual(JSON.parse(listed ?? ''), { products: [product], next_cursor: null });
  assert.equal(product.sku, 'MUG-1');
});

test('does not print them if there is a seller', async (t) => {
  const folder = makeFolder(t);
  const first = await startServing(t, ['--data', folder]);
  const script = await readFirstSteps(first);
  const [create = ''] = script.split('\n');
  assert.match(create, /seller create/);
  await execute('sh', ['-c', create], { cwd: process.cwd() });
  await first.stop('SIGTERM');
  const second = await startServing(t, ['--data', folder]);
  assert.equal(await second.stop('SIGTERM'), 0);
  assert.doesNotMatch(second.notes(), /database is empty/);
});

/** The lines to type: those that are indented. */
async function readFirstSteps(serving: Serving): Promise<string> {
  await serving.waitForNote(/^ {2}curl .* "x-api-key: \$KEY"\n/m);
  const lines = serving.notes().split('\n').filter((line) => line.startsWith('  '));
  return lines.map((line) => line.slice(2)).join('\n');
}
