/** Files beside modules; what the build makes of them is tested on the package. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { readAsset, readAssets } from '../../src/runtime/asset.ts';
import { makeFolder } from '../support/folder.ts';

test('explains that a bundle may lack a file, and does not blame a data folder', (t) => {
  const folder = pathToFileURL(`${makeFolder(t)}/`);
  for (const read of [
    () => readAsset(new URL('schema.sql', folder)), () => readAssets(new URL('assets/', folder)),
  ]) {
    assert.throws(read, (error: Error & { code?: string }) => {
      assert.match(error.message, /missing\. If it was bundled: bundle the npm package/);
      assert.equal(error.code, undefined);
      assert.match(String(error.cause), /ENOENT.*(?:schema\.sql|assets)/);
      return true;
    });
  }
});
