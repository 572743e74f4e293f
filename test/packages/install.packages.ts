/** How these tests install packages: exact versions, or a skip with a reason. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../support/folder.ts';
import { installPackages } from '../support/install-packages.ts';

test('installs the exact version that a test names', async (t) => {
  const folder = makeFolder(t);
  if (!await installPackages(t, folder, ['connect@3.7.0'])) return;
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  assert.deepEqual(manifest.dependencies, { connect: '3.7.0' });
  assert.ok(existsSync(join(folder, 'node_modules/connect/index.js')));
});

test('fails for a name without a version, and for a version that does not exist', async (t) => {
  const folder = makeFolder(t);
  await assert.rejects(installPackages(t, folder, ['connect']), /exact version/);
  let isSkipped = false;
  const skip = (): void => { isSkipped = true; };
  try {
    const isInstalled = await installPackages({ skip }, folder, ['connect@99.99.99']);
    assert.deepEqual([isInstalled, isSkipped], [false, true]); // there is no registry
  } catch (error) {
    assert.match(String(error), /ETARGET/);
  }
});
