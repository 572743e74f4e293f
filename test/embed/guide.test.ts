/** Runs the guide's test for Node's own runner; `make test-packages` runs those for others. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { makeFolder } from '../support/folder.ts';

test('the test in the guide passes', async (t) => {
  const guide = readFileSync(join(import.meta.dirname, '../../src/embed/README.md'), 'utf8');
  const [, code = ''] = /<!-- example: node-test -->\n```js\n(.*?)```/s.exec(guide) ?? [];
  const file = join(makeFolder(t), 'example.test.mjs');
  writeFileSync(file, code.replace("'seller-product-api'",
    () => JSON.stringify(import.meta.resolve('../../src/index.ts'))));
  const { stdout } = await promisify(execFile)(
    process.execPath, ['--test', '--test-reporter=tap', file],
    { env: { ...process.env, NODE_TEST_CONTEXT: undefined } }); // of the runner of this test
  assert.match(stdout, /^ok 1 - sells a mug$/m);
  assert.match(stdout, /^# pass 1$/m);
});
